import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { patternMatcher, vendorFileSchema, type VendorFile } from '../models/vendor-file.ts';
import { describeIssue } from './config-error.ts';
import { packText } from './configuration-text.ts';
import type { ChannelConfig } from './gateway-schema.ts';
import { readYaml } from './read-yaml.ts';

/** Each vendor file is an adapter written as data. gateway.yaml lists the files under `vendors`. */

export type VendorFiles = Readonly<Record<string, VendorFile>>;

const namingSchema = z.object({ vendors: z.array(z.string()) });

/**
 * Packs gateway.yaml and its vendor files into one text. An unreadable file is left out here and reported when the text
 * is parsed.
 */
export function withVendorFiles(gateway: string, path: string): string {
  const read = readYaml(gateway);
  const named = 'value' in read ? (namingSchema.safeParse(read.value).data?.vendors ?? []) : [];
  const files = named.flatMap((name) => {
    const text = textOf(resolve(dirname(path), name));
    return text === undefined ? [] : [[name, text] as const];
  });
  return packText({ gateway, vendors: Object.fromEntries(files) });
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

export interface ReadVendorFiles {
  readonly files: VendorFiles;
  readonly violations: readonly string[];
}

/** `taken` contains the names of built-in adapters. */
export function readVendorFiles(
  named: readonly string[],
  texts: Readonly<Record<string, string>>,
  taken: readonly string[],
): ReadVendorFiles {
  const files = new Map<string, VendorFile>();
  const violations: string[] = [];
  for (const path of named) {
    const text = Object.hasOwn(texts, path) ? texts[path] : undefined;
    const read = text === undefined ? unreadable : parseVendorFile(text);
    if ('violations' in read) {
      violations.push(...read.violations.map((violation) => `${path}: ${violation}`));
    } else if (taken.includes(read.file.name) || files.has(read.file.name)) {
      violations.push(`${path}: name: an adapter "${read.file.name}" already exists`);
    } else {
      files.set(read.file.name, read.file);
    }
  }
  return { files: Object.fromEntries(files), violations };
}

const unreadable = { violations: ['cannot be read: the path is relative to gateway.yaml'] };

export function parseVendorFile(
  text: string,
): { readonly file: VendorFile } | { readonly violations: readonly string[] } {
  const read = readYaml(text);
  if ('violations' in read) return read;
  const parsed = vendorFileSchema.safeParse(read.value);
  if (parsed.success) return { file: parsed.data };
  return { violations: parsed.error.issues.flatMap((issue) => describeIssue(issue)) };
}

export function withFilePrices(
  channels: readonly ChannelConfig[],
  files: VendorFiles,
  currency: string,
): ChannelConfig[] {
  return channels.map((channel) => {
    const file = Object.hasOwn(files, channel.provider) ? files[channel.provider] : undefined;
    if (file === undefined || channel.cost !== undefined) return channel;
    const models = Object.entries(channel.models).map(([name, model]) => {
      const price = file.prices.find(
        (one) => one.currency === currency && patternMatcher(one.model).test(model.upstream),
      );
      return [name, price === undefined ? model : { ...model, cost: model.cost ?? price.cost }] as const;
    });
    return { ...channel, models: Object.fromEntries(models) };
  });
}
