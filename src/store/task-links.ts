import { z } from 'zod';
import { defined } from '../base/defined.ts';
import { parseJson } from '../base/parse-json.ts';
import type { Changes } from '../task/transition.ts';
import type { Task, TaskOutcome } from '../task/record.ts';
import type { ResultItem } from '../task/task.ts';
import { sealedParts, type SealedParts, type Sealing } from './sealed-document.ts';

/**
 * Anyone with a signed link can fetch the result, so links are sealed. Results that arrived as data are sealed too.
 * Each result has its own sealed value.
 */
export function createTaskLinks(sealing: Sealing) {
  const parts = sealedParts(sealing, 'result-links');

  function sealedOf(id: string, outcome: TaskOutcome | undefined): SealedParts | undefined {
    const links = linksOf(outcome);
    return Object.keys(links).length === 0 ? undefined : parts.seal(id, links);
  }

  return {
    seal: sealedOf,

    /** A changed outcome replaces the old one completely, including all links. */
    changeOf({ id, outcome }: Task, changes: Changes): { readonly links?: SealedParts | undefined } {
      if (!('outcome' in changes)) return {};
      const links = sealedOf(id, changes.outcome);
      return links === undefined && outcome === undefined ? {} : { links };
    },

    /** If an item has no links, its links in the record are kept. */
    fieldsOf: (id: string, items: readonly ResultItem[]): Readonly<Record<string, unknown>> => {
      const links = Object.entries(parts.seal(id, linksOfItems(items)));
      return Object.fromEntries(links.map(([part, value]) => [`links.${part}`, value]));
    },

    open(id: string, outcome: TaskOutcome, held: SealedParts): TaskOutcome {
      if (outcome.kind === 'succeeded') {
        const items = outcome.items.map((item, n) => ({ ...item, ...linksIn(parts.open(id, held, `${n}`)) }));
        return { ...outcome, items };
      }
      const withheld = listIn(parts.open(id, held, withheldPart));
      return { ...outcome, ...defined({ withheld }) };
    },
  };
}

const withheldPart = 'withheld';

export function unlinked(outcome: TaskOutcome): TaskOutcome {
  if (outcome.kind === 'succeeded') return { ...outcome, items: outcome.items.map(unlinkedItem) };
  const { withheld: _withheld, ...rest } = outcome;
  return rest;
}

export function unlinkedItem(item: ResultItem): ResultItem {
  const { url: _url, lastFrameUrl: _lastFrameUrl, base64: _base64, ...rest } = item;
  return rest;
}

function linksOf(outcome: TaskOutcome | undefined): Readonly<Record<string, string>> {
  if (outcome === undefined) return {};
  if (outcome.kind === 'succeeded') return linksOfItems(outcome.items);
  return outcome.withheld === undefined ? {} : { [withheldPart]: JSON.stringify(outcome.withheld) };
}

function linksOfItems(items: readonly ResultItem[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    items.flatMap(({ url, lastFrameUrl, base64 }, n) => {
      const content = defined({ url, lastFrameUrl, base64 });
      return Object.keys(content).length === 0 ? [] : [[n, JSON.stringify(content)]];
    }),
  );
}

const linksSchema = z.object({
  url: z.string().optional(),
  lastFrameUrl: z.string().optional(),
  base64: z.string().optional(),
});

function linksIn(text: string | undefined): Pick<ResultItem, 'url' | 'lastFrameUrl' | 'base64'> {
  return text === undefined ? {} : defined(linksSchema.parse(parseJson(text)));
}

function listIn(text: string | undefined): readonly string[] | undefined {
  return text === undefined ? undefined : z.array(z.string()).parse(parseJson(text));
}
