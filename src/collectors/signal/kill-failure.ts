/** kill(2) that failed, with the right that is missing: 'kill: EPERM: needs CAP_KILL'. */
export function killFailure(errno: string): { readonly denied: boolean; readonly reason: string } {
  const denied = errno === 'EPERM';
  return { denied, reason: `kill: ${errno}${denied ? ': needs CAP_KILL' : ''}` };
}
