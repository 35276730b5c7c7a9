import { assignment } from './assignment.ts';
import { authorization, basic, bearer, cookie, dockerAuth } from './authorization.ts';
import { COMMANDS } from './commands.ts';
import { envList } from './env-list.ts';
import { KNOWN_TOKENS } from './known-tokens.ts';
import { privateKey } from './private-key.ts';
import type { Detector } from './span.ts';
import { signedLink, slackWebhook, urlCredentials } from './url.ts';

/** All that is taken out, in the order in which they are asked where two heads begin at one place. */
export const DETECTORS: readonly Detector[] = [
  privateKey,
  authorization,
  bearer,
  basic,
  cookie,
  dockerAuth,
  ...KNOWN_TOKENS,
  signedLink,
  slackWebhook,
  urlCredentials,
  envList,
  ...COMMANDS,
  assignment,
];
