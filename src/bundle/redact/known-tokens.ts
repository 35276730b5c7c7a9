import { type Detector, spanOfGroup } from './span.ts';

/**
 * Credentials that are known by their shape. Sources: the issuers' documentation and secret scanners' published rules
 * (GitHub "About authentication", GitLab "Token overview", AWS "IAM identifiers", Slack "Token types", Google Cloud
 * "API keys", RFC 7519).
 */
function shape(kind: string, triggers: string, secret: string): Detector {
  // Not in the middle of a longer word; that is also what keeps eyJeyJeyJ… from being looked at from every place. Behind a
  // line end written as `\n` a word begins, too.
  const head = /(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))/y;
  const pattern = new RegExp(`(${secret})`, 'dy');
  return { triggers: triggers.split(' '), head, find: (text, at) => spanOfGroup(pattern, text, at, kind) };
}

/** Tokens that their issuer gave a shape of their own, wherever they stand. */
export const KNOWN_TOKENS: readonly Detector[] = [
  shape('aws', 'aki asi', '(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])'),
  shape('github', 'ghp gho ghu ghs ghr', 'gh[pousr]_[A-Za-z0-9]{36,255}'),
  shape('github', 'git', 'github_pat_[A-Za-z0-9_]{22,255}'),
  shape('gitlab', 'glp glr gld glc gla gls', 'gl(?:pat|rt|dt|ptt|cbt|agent|soat)-[A-Za-z0-9_-]{20,255}'),
  shape('slack', 'xox xap', '(?:xox[abeoprs](?:\\.xox[bp])?|xapp)-[A-Za-z0-9-]{10,255}'),
  shape('gcp', 'aiz', 'AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])'),
  shape('gcp', 'ya2', 'ya29\\.[A-Za-z0-9_-]{20,2048}'),
  shape('gcp', 'goc', 'GOCSPX-[A-Za-z0-9_-]{28}'),
  shape('npm', 'npm', 'npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])'),
  shape('docker', 'dck', 'dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,255}'),
  shape('vault', 'hvs hvb hvr', 'hv[sbr]\\.[A-Za-z0-9_-]{24,512}'),
  shape('stripe', 'sk_ rk_', '[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}'),
  shape('jwt', 'eyj', 'eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}(?:\\.[A-Za-z0-9_-]*){1,3}'),
];
