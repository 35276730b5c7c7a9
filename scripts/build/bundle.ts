import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { DIST, ROOT } from './paths.ts';

/** Bundles that are loaded when they are needed; see bin/load-bundle.ts. */
export const LOADED_BUNDLES = ['program', 'commands'] as const;

const COMMON = {
  bundle: true,
  absWorkingDir: ROOT,
  platform: 'node',
  format: 'cjs',
  target: 'node22.13',
  // vm.Script has no `import()`; and one file is one read.
  supported: { 'dynamic-import': false },
  // import.meta.url: only sources look beside themselves.
  define: { STALLCAP_BUNDLED: 'true', 'import.meta.url': '""' },
  // Less to read and hash at start; names stay, for stacks that somebody has to understand.
  minifySyntax: true,
  minifyWhitespace: true,
  charset: 'ascii',
  legalComments: 'none',
  logLevel: 'warning',
} as const satisfies BuildOptions;

/**
 * Writes dist/entry.cjs, which is all that is compiled before the first look, and the bundles that it loads later: the
 * program, and what a probe imports to run commands (execa, which most probes never want).
 */
export async function bundleAll(): Promise<void> {
  const commands = 'src/host/probe/commands.ts';
  await Promise.all([
    build({
      ...COMMON,
      entryPoints: ['bin/main.ts'],
      outfile: `${DIST}/entry.cjs`,
      plugins: [later('commands', commands)],
    }),
    build({ ...COMMON, entryPoints: ['bin/program.ts'], outfile: `${DIST}/program.cjs`, plugins: [neverWsl] }),
    build({ ...COMMON, entryPoints: [commands], outfile: `${DIST}/commands.cjs` }),
  ]);
  for (const name of LOADED_BUNDLES) await wrap(`${DIST}/${name}.cjs`);
}

/** An `import()` of `file` becomes a load of the bundle `name`. */
function later(name: (typeof LOADED_BUNDLES)[number], file: string): Plugin {
  return {
    name: `later-${name}`,
    setup({ onLoad, onResolve }) {
      onResolve({ filter: new RegExp(`/${basename(file)}$`) }, ({ kind, path, resolveDir }) => {
        const meant = kind === 'dynamic-import' && join(resolveDir, path) === join(ROOT, file);
        return meant ? { path: name, namespace: 'later' } : null;
      });
      onLoad({ filter: /./, namespace: 'later' }, () => ({
        contents: `module.exports = require('./bin/load-bundle.ts').loadBundle('${name}')`,
        resolveDir: ROOT,
      }));
    },
  };
}

/** As Node wraps a CommonJS module. */
async function wrap(path: string): Promise<void> {
  const source = await readFile(path, 'latin1');
  await writeFile(path, `(function(exports,require,module,__filename,__dirname){${source}\n})`, 'latin1');
}

/** oclif asks at every start whether this is Windows' Linux, which reads files and probes for containers. It never is. */
const neverWsl: Plugin = {
  name: 'never-wsl',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^wsl-utils$/ }, () => ({ path: 'wsl-utils', namespace: 'never-wsl' }));
    onLoad({ filter: /./, namespace: 'never-wsl' }, () => ({ contents: 'export const isWsl = false;' }));
  },
};
