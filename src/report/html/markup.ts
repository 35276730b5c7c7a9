import { printable } from '../../formats/escape.ts';

/** Markup that is safe to send: made by `html` alone. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

type Value = string | number | Markup | null | false | readonly Value[];

/** A template of HTML or SVG: what is put in is text, and stays text, in elements and in quoted attributes alike. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return new Markup(strings.reduce((all, part, index) => all + render(values[index - 1] ?? null) + part));
}

function render(value: Value): string {
  if (value === null || value === false) return '';
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return value.map(render).join('');
  return asText(String(value));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Control and bidi characters are made visible: they could turn around what stands beside them. */
function asText(text: string): string {
  return printable(text).replace(/[&<>"']/g, character => ENTITIES[character] ?? '');
}
