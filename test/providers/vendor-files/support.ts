import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { vendorFileSchema, type VendorFile } from '../../../src/models/vendor-file.ts';

export const examplesFolder = fileURLToPath(new URL('../../../examples/vendors', import.meta.url));

export function exampleData(name: string): any {
  return parse(readFileSync(`${examplesFolder}/${name}.yaml`, 'utf8'));
}

export function exampleFile(name: string, change: (file: any) => void = () => undefined): VendorFile {
  const data = exampleData(name);
  change(data);
  return vendorFileSchema.parse(data);
}
