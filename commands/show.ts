import { Args, Flags } from '@oclif/core';
import { type Listing, listEntries, withEntry } from '../src/bundle/list-entries.ts';
import type { Answer } from '../src/cli/answer.ts';
import { BaseCommand } from '../src/cli/base-command.ts';
import { bundleFile } from '../src/cli/bundle-file.ts';
import { writeResultFile } from '../src/cli/result-file.ts';
import { EXIT, StallcapError } from '../src/errors.ts';
import { printable } from '../src/formats/escape.ts';
import { fileChunks } from '../src/host/open-file.ts';
import { openOutput } from '../src/host/writer/output.ts';
import { entryText } from '../src/report/show/entry-text.ts';
import { listingWords } from '../src/report/show/listing-words.ts';

export default class Show extends BaseCommand {
  static override summary = 'Look inside a bundle without unpacking it.';
  static override description =
    'Without ENTRY: what is in it, and how each was got. With ENTRY: its text, made safe for a terminal; with -o its very bytes.';
  static override examples = [
    'stallcap show web-0.tar.gz',
    'stallcap show web-0.tar.gz shim/threads-1.txt',
    'stallcap show web-0.tar.gz shim/goroutines.txt -o goroutines.txt',
  ];
  static override args = {
    bundle: Args.string({ description: "The bundle's path, or - for standard input.", required: true }),
    entry: Args.string({ description: 'Path of an entry, as the list shows it.' }),
  };
  static override flags = {
    output: Flags.string({ char: 'o', summary: 'File for the bytes of the entry.', helpValue: '<path>' }),
  };

  override async run(): Promise<Answer> {
    const { args, flags } = await this.parse(Show);
    const bundle = () => bundleFile(args.bundle, fileChunks);
    if (args.entry === undefined && flags.output !== undefined) throw noEntryNamed(args.bundle);
    if (args.entry === undefined) return listed(await listEntries(bundle()));
    const body = await withEntry(bundle(), args.entry, async entry => ({
      body: await entry.read(),
      state: (await entry.finish()).state,
    }));
    if (body === null) throw noSuchEntry(args.bundle, args.entry);
    const exit = body.state === 'intact' || body.state === 'unhashed' ? EXIT.complete : EXIT.incomplete;
    const json = { entry: args.entry, state: body.state, bytes: body.body.length };
    if (flags.output === undefined) {
      const text = entryText(body.body);
      return { exit, text, json: { ...json, text } };
    }
    const path = await writeResultFile(flags.output, [body.body], openOutput);
    return { exit, text: `${path}\n`, json: { ...json, path } };
  }
}

function listed(listing: Listing): Answer {
  return { exit: listing.cut ? EXIT.incomplete : EXIT.complete, text: listingWords(listing), json: listing };
}

function noEntryNamed(bundle: string): StallcapError {
  return new StallcapError('-o takes the bytes of an entry, and none is named.', {
    ...{ code: 'no-entry-named', exit: EXIT.usage },
    next: [`See what is in it: stallcap show ${printable(bundle)}`],
  });
}

function noSuchEntry(bundle: string, entry: string): StallcapError {
  return new StallcapError(`There is no ${entry} in the bundle, or it is behind a cut.`, {
    ...{ code: 'no-such-entry', exit: EXIT.usage },
    next: [`See what is in it: stallcap show ${bundle}`],
  });
}
