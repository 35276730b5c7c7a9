import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The single executable that `npm run build` (and `npm test`, before the tests) makes. */
export const STALLCAP = fileURLToPath(new URL('../../dist/stallcap', import.meta.url));
/** The same program on the node that calls it. */
export const RUN_JS = fileURLToPath(new URL('../../bin/run.js', import.meta.url));

/** What the runtime itself reads at start: libraries, OpenSSL's configuration, the time zone; and what is no disk. */
export const RUNTIME_PATHS =
  /^(?:\/(?:proc|sys|dev)(?:\/|$)|\/(?:usr\/)?lib(?:64)?\/|\/etc\/(?:ld\.so\.|ssl\/|localtime)|\/usr\/share\/zoneinfo)/;

if (!existsSync(STALLCAP)) throw new Error('dist/stallcap is not there: npm run build');
