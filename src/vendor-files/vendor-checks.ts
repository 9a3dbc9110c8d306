import { LRUCache } from 'lru-cache';
import { canonicalJson } from '../base/canonical-json.ts';
import type { VendorFile } from '../models/vendor-file.ts';
import { createExpressions } from './expressions.ts';
import { vendorFileViolations } from './verification/verify.ts';

const checkedMax = 64;

/** Returns the violations of a configuration's vendor files. Each version of a file is tried once. */
export function createVendorChecks() {
  const checked = new LRUCache<string, readonly string[]>({ max: checkedMax });

  const check = async (file: VendorFile): Promise<readonly string[]> => {
    const text = canonicalJson(file);
    const known = checked.get(text);
    if (known !== undefined) return known;
    const expressions = createExpressions();
    const violations = await vendorFileViolations(file, expressions);
    await expressions.close();
    checked.set(text, violations);
    return violations;
  };

  return async ({ vendors }: { readonly vendors: Readonly<Record<string, VendorFile>> }) =>
    (await Promise.all(Object.values(vendors).map(check))).flat();
}
