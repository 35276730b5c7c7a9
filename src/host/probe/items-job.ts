import type { Frame } from '../frames.ts';
import type { GivenUp, Job } from './job.ts';
import type { Indexed, Reply, Request } from './protocol.ts';

/** How a list of items is asked, cut from what comes, and given up: what differs between files, looks and the sweep. */
export interface ItemKind<Item, Result> {
  readonly name: string;
  request(items: readonly Indexed<Item>[]): Request;
  /** One result and the bytes that belong to it, from the front of `body`. */
  decode(item: Item, result: never, body: Buffer): { readonly result: Result; readonly bytes: number };
  /** The result of an item that brought nothing, or another way to ask for it. */
  giveUp(item: Item, why: GivenUp): { readonly result: Result } | { readonly instead: Item };
  /** The same for an item of a kind in which too many probes hang already; null when it may be asked as it is. */
  refuse(item: Item, hangs: (kind: string) => number): { readonly result: Result } | { readonly instead: Item } | null;
  describe(item: Item): string;
  kindOf(item: Item, openFile: string | null): string;
}

/** A list of items of which each gets its result, from whichever probe lives to bring it. */
export class ItemsJob<Item, Result> implements Job {
  readonly repeatable = true;
  readonly waits = false;
  readonly #kind: ItemKind<Item, Result>;
  readonly #items: Item[];
  readonly #results: (Result | undefined)[];
  /** Indexes that the present probe was asked for, in this order. */
  #asked: number[] = [];
  #brought = 0;

  constructor(kind: ItemKind<Item, Result>, items: readonly Item[]) {
    this.#kind = kind;
    this.#items = [...items];
    this.#results = items.map(() => undefined);
  }

  get name(): string {
    return this.#kind.name;
  }

  /** In the order of the items; `undefined` for those that were not reached. */
  get results(): readonly (Result | undefined)[] {
    return this.#results;
  }

  request(hangs: (kind: string) => number): Request | null {
    for (const [index, item] of this.#items.entries()) {
      if (this.#results[index] !== undefined) continue;
      const refusal = this.#kind.refuse(item, hangs);
      if (refusal !== null) this.#settle(index, refusal);
    }
    this.#asked = [...this.#items.keys()].filter(index => this.#results[index] === undefined);
    this.#brought = 0;
    if (this.#asked.length === 0) return null;
    return this.#kind.request(this.#asked.map(index => ({ index, item: this.#items[index] as Item })));
  }

  take({ header, body }: Frame<Reply>): void {
    if (header.kind !== 'items') return;
    let at = 0;
    for (const raw of header.results) {
      const index = this.#asked[this.#brought];
      if (index === undefined) return;
      this.#brought += 1;
      const { result, bytes } = this.#kind.decode(this.#items[index] as Item, raw as never, body.subarray(at));
      at += bytes;
      this.#results[index] = result;
    }
  }

  finish(): void {}

  giveUp(index: number | null, why: GivenUp): void {
    const at = this.#at(index);
    if (at !== undefined) this.#settle(at, this.#kind.giveUp(this.#items[at] as Item, why));
  }

  describe(index: number | null): string {
    const at = this.#at(index);
    return at === undefined ? '' : this.#kind.describe(this.#items[at] as Item);
  }

  kindOf(index: number | null, openFile: string | null): string {
    const at = this.#at(index);
    return at === undefined ? this.name : this.#kind.kindOf(this.#items[at] as Item, openFile);
  }

  /** A probe names its item while it reads it; results that it had not sent yet are asked again. */
  #at(index: number | null): number | undefined {
    return index !== null && this.#results[index] === undefined && index < this.#items.length
      ? index
      : this.#asked[this.#brought];
  }

  #settle(index: number, settled: { readonly result: Result } | { readonly instead: Item }): void {
    if ('instead' in settled) this.#items[index] = settled.instead;
    else this.#results[index] = settled.result;
  }
}
