import { createRecent } from '../../base/recent.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import type { VendorFile } from '../../models/vendor-file.ts';
import { createExpressions } from './expressions.ts';
import { vendorFileViolations } from './verification/verify.ts';

const checkedMax = 64;

async function tried(file: VendorFile): Promise<readonly string[]> {
  const expressions = createExpressions();
  const violations = await vendorFileViolations(file, expressions);
  await expressions.close();
  return violations;
}

export function createVendorChecks() {
  const checked = createRecent<readonly string[]>(checkedMax);

  const check = async (file: VendorFile): Promise<readonly string[]> => {
    const text = canonicalJson(file);
    const known = checked.get(text);
    if (known !== undefined) return known;
    // An expression may exceed its limits on a busy machine, so a failure counts only if it happens twice.
    const violations = (await tried(file)).length === 0 ? [] : await tried(file);
    if (violations.length === 0) checked.set(text, violations);
    return violations;
  };

  return async ({ vendors }: { readonly vendors: Readonly<Record<string, VendorFile>> }) =>
    (await Promise.all(Object.values(vendors).map(check))).flat();
}
