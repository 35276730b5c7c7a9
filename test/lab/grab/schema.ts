import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

type Name = 'doctor' | 'grab' | 'manifest' | 'plan' | 'verify';

const compiled = new Map<Name, ValidateFunction>();

/** Expects a document to be what schemas/<name>.schema.json says. */
export function expectValid(name: Name, document: unknown): void {
  const validate = compiled.get(name) ?? compile(name);
  compiled.set(name, validate);
  validate(document);
  expect(validate.errors ?? []).toEqual([]);
}

function compile(name: Name): ValidateFunction {
  const file = join(import.meta.dirname, '../../../schemas', `${name}.schema.json`);
  return new Ajv2020({ allErrors: true, allowUnionTypes: true, formats: { 'date-time': true } }).compile(
    JSON.parse(readFileSync(file, 'utf8')),
  );
}
