/**
 * How a piece of evidence was got.
 * - `ok`: whole
 * - `empty`: read to its end, nothing in it
 * - `absent`: not expected on this node (no crictl, cgroup v1, old kernel); does not make a bundle incomplete
 * - `truncated`: a cap or a deadline cut it
 * - `timeout`: the read hung; see stuckProbes
 * - `denied`: EACCES or EPERM; `detail` names the right that is missing
 * - `gone`: the process or file vanished between being found and being read (ENOENT, ESRCH)
 * - `error`: anything else; `detail` has the errno
 */
export type Outcome = 'ok' | 'empty' | 'absent' | 'truncated' | 'timeout' | 'denied' | 'gone' | 'error';
