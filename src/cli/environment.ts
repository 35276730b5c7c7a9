import type { Asked } from './arguments.ts';

/**
 * Set before oclif is loaded, which reads them at import or in `Config.load`.
 * - Without SHELL and HOME it asks the user database: with sssd or LDAP behind it that is a network call, and can hang.
 * - The theme would be a file of the home directory; the engine check a package.json beside an executable that has none.
 */
export function prepareEnvironment(asked: Asked, env: NodeJS.ProcessEnv = process.env): void {
  env['SHELL'] ||= 'unknown';
  env['HOME'] ||= '/';
  env['STALLCAP_DISABLE_THEME'] = '1';
  env['OCLIF_DISABLE_ENGINE_WARNING'] = '1';
  if (asked.noColor) env['NO_COLOR'] = '1';
  // Node warns on stderr when both are set; the one that takes colours away wins.
  if (env['NO_COLOR']) delete env['FORCE_COLOR'];
}
