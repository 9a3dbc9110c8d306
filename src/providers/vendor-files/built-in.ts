import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { once } from '../../base/once.ts';
import { parseJson } from '../../base/parse-json.ts';
import { keep, keptPath, readKept } from '../../process/kept-files.js';
import { vendorFileSchema, type VendorFile } from '../../models/vendor-file.ts';
import type { Provider } from '../provider.ts';
import { ExpressionError, type Evaluator } from './expressions.ts';
import { fileProvider } from './file-provider.ts';

export function builtInFile(url: URL): VendorFile {
  // Use `jitless`, because for so few files, compiling the schema would take longer than interpreting it.
  return vendorFileSchema.parse(valueOf(readFileSync(url, 'utf8')), { jitless: true });
}

/** Parsing the YAML takes a tenth of a process's startup time, so the result is cached. */
function valueOf(text: string): unknown {
  const path = keptPath(`vendor-files/${createHash('sha256').update(text).digest('hex')}.json`);
  const kept = parseJson(readKept(path) ?? '');
  if (kept !== undefined) return kept;
  const value: unknown = parse(text, { prettyErrors: false, uniqueKeys: false });
  keep(path, JSON.stringify(value));
  return value;
}

export function builtInProvider(file: VendorFile): Provider {
  return fileProvider(file, { expressions: createEvaluator(), now: Date.now });
}

/**
 * Limits the steps of an evaluation, so that it blocks the event loop for about 20 ms at most, whatever the response.
 */
const stepsMax = 10_000;

/**
 * Evaluates in this process, because these expressions are reviewed like code, and a thread would use 30 MB and take
 * 0.3 s to start. JSONata is loaded on first use.
 */
function createEvaluator(): Evaluator {
  const load = once(() => import('./evaluate.ts'));
  return {
    async evaluate(source, input, bindings = {}) {
      const { evaluate, reasonOf } = await load();
      try {
        const text = await evaluate({ source, input, bindings }, stepsMax);
        return text === undefined ? undefined : parseJson(text);
      } catch (error) {
        throw new ExpressionError(reasonOf(error));
      }
    },
  };
}
