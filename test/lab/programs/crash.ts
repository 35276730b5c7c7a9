/** Freezes a filesystem below a containerd, says in which folder, and dies without a chance to undo anything. */
import { filesystemFrozen } from '../stalls/filesystem-frozen.ts';

const { folder } = await filesystemFrozen();
const { path, name, ledger } = folder;
process.stdout.write(`${JSON.stringify({ path, name, ledger })}\n`, () => process.kill(process.pid, 'SIGKILL'));
