import { stripVTControlCharacters } from 'node:util';
import { EXIT, type ExitCode, StallcapError } from '../errors.ts';
import { nearest } from './nearest.ts';

/** A failure, whatever was thrown, in the shape that both the words and the JSON are made from. */
export interface Failure {
  readonly code: string;
  readonly exit: ExitCode;
  readonly message: string;
  readonly next: readonly string[];
  readonly table: string | undefined;
  /** Only of what was not expected. */
  readonly stack: string | undefined;
}

/** What oclif's parser puts around an error of a flag's own `parse`. */
const FLAG_VALUE = /^Parsing (--\S+) \n\t([\s\S]*?)(?:\nSee more help with --help)?$/;

/** `command` is the one that was asked for, to point at its help. */
export function toFailure(error: unknown, command: string | null): Failure {
  const message = error instanceof Error ? error.message : String(error);
  const badFlag = FLAG_VALUE.exec(message);
  if (badFlag) return usage('bad-value', `${badFlag[1]}: ${badFlag[2]}`, command);
  if (isStallcapError(error)) {
    const { code, exit, next, table } = error;
    return { code, exit, message, next, table, stack: undefined };
  }
  if (isUnknownFlag(error)) return unknownFlag(error, command);
  if (isOclifError(error))
    return usage(message.startsWith('Expected ') ? 'bad-value' : 'usage', sentence(message), command);
  return fault(error, message);
}

/** By name: the entry and the program are two bundles, each with a class of its own. */
function isStallcapError(error: unknown): error is StallcapError {
  return (
    error instanceof StallcapError || (error instanceof Error && error.name === 'StallcapError' && 'exit' in error)
  );
}

interface UnknownFlag extends Error {
  readonly flags: readonly string[];
  readonly parse: { readonly input: { readonly flags: Readonly<Record<string, unknown>> } };
}

/** Told by its mark: importing the class would load all of oclif. Only its parser throws here, so it is the usage. */
function isOclifError(error: unknown): error is Error {
  return error instanceof Error && 'oclif' in error;
}

/** oclif does not export the class. */
function isUnknownFlag(error: unknown): error is UnknownFlag {
  return isOclifError(error) && error.message.startsWith('Nonexistent flag');
}

function unknownFlag(error: UnknownFlag, command: string | null): Failure {
  const known = Object.keys(error.parse.input.flags);
  const given = error.flags.map(flag => flag.replace(/=.*/s, ''));
  const meant = given.flatMap(flag => nearest(flag.replace(/^-+/, ''), known)).map(name => `--${name}`);
  const many = given.length > 1 ? 's' : '';
  return usage('unknown-flag', `Unknown flag${many}: ${given.join(', ')}.${didYouMean(meant)}`, command);
}

export function unknownCommand(name: string, names: readonly string[]): StallcapError {
  return new StallcapError(`stallcap has no command '${name}'.${didYouMean(nearest(name, names))}`, {
    code: 'unknown-command',
    exit: EXIT.usage,
    next: ['See all commands: stallcap --help'],
  });
}

function didYouMean(names: readonly string[]): string {
  return names.length > 0 ? ` Did you mean ${names.join(' or ')}?` : '';
}

function usage(code: string, message: string, command: string | null): Failure {
  const next = [`See how it is used: stallcap ${command ? `${command} ` : ''}--help`];
  return { code, exit: EXIT.usage, message, next, table: undefined, stack: undefined };
}

/** oclif's wording without its colours, its line breaks and its hint at --help, which stands in `next`. */
function sentence(message: string): string {
  const plain = stripVTControlCharacters(message)
    .replace(/\nSee more help with --help$/, '')
    .replace(/^The following errors? occurred:\s*/, '')
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
    .join(' ');
  return /[.?!]$/.test(plain) ? plain : `${plain}.`;
}

function fault(error: unknown, message: string): Failure {
  return {
    code: 'fault',
    exit: EXIT.fault,
    message: `stallcap itself failed: ${message}`,
    next: ['Run it again with --debug, and report all that it prints, and `stallcap version`, as a bug of stallcap.'],
    table: undefined,
    stack: error instanceof Error ? error.stack : undefined,
  };
}
