import { type Detector, spanOfGroup } from './span.ts';

/**
 * Short flags, which mean a password only after certain programs: `-p` is a port for docker run and a directory mode
 * for mkdir. Blanks or the NULs of a cmdline between the arguments.
 */
function command(trigger: string, program: string, flags: string, offset = 0): Detector {
  // At most so many characters of other arguments: a command line, not a page.
  const pattern = new RegExp(String.raw`${program}[ \t\0](?:[^\n|;]{0,300}?[ \t\0])?${flags}`, 'dy');
  return {
    triggers: [trigger],
    offset,
    head: new RegExp(String.raw`(?<![\w.-])${program}(?=[ \t\0])`, 'iy'),
    find: (text, at) =>
      spanOfGroup(pattern, text, at, 'password').filter(
        ({ from, to }) => !/^(?:\$|\[redacted)/.test(text.slice(from, to)),
      ),
  };
}

const WORD = String.raw`((?!-)[^\s\0"']+)`;
const NEXT = String.raw`[ \t\0]`;

/** Passwords that are an argument of a well-known program: `mysql -psecret`. */
export const COMMANDS: readonly Detector[] = [
  command('ssh', 'sshpass', `-p${NEXT}?${WORD}`),
  command('mys', 'mysql(?:dump|admin)?', `-p${WORD}`),
  command('iad', 'mariadb(?:-dump|-admin)?', `-p${WORD}`, 3),
  command('is-', 'redis-cli', `-a${NEXT}${WORD}`, 3),
  command('ogi', '(?<=(?:docker|podman|nerdctl|crictl|oras|helm|helm registry) )login', `-p${NEXT}?${WORD}`, 1),
  command('lda', 'ldap(?:search|add|modify|whoami)', `-w${NEXT}?${WORD}`),
  command('ngo', 'mongo(?:sh|dump|restore)?', `-p${NEXT}${WORD}`, 2),
  command(
    'cur',
    'curl',
    String.raw`(?:-u|--user|-U|--proxy-user)[ \t\0=]?["']?[^\s:\0"'/-][^\s:\0"'/]{0,64}:([^\s\0"']+)`,
  ),
  command('smb', 'smbclient', String.raw`-U[ \t\0]?[^\s%\0"']{1,64}%([^\s\0"']+)`),
];
