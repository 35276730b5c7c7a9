import process from 'node:process';

/** Who runs this: from the environment alone, since asking NSS for a name can hang. */
export function operator(): { uid: number; user: string | null; sudoUser: string | null } {
  const { SUDO_USER: sudoUser, USER: user, LOGNAME: login } = process.env;
  return { uid: process.getuid?.() ?? -1, user: user ?? login ?? null, sudoUser: sudoUser ?? null };
}
