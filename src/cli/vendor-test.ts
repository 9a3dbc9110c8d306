import type { Command } from 'commander';
import type { Row } from './admin-client.ts';
import { CommandError } from './command-error.ts';
import { outputOf, type CliContext } from './context.ts';
import { textOfFile } from './given-file.ts';
import { examples } from './program.js';

/** Needs no gateway, configuration or network, because a simulated vendor responds with the file's fixtures. */
export function addVendorTest(vendors: Command, context: CliContext): void {
  vendors
    .command('test')
    .description(
      'Tests vendor files: their expressions, their fixtures, and the behaviour required of every adapter. Only a file that passes can be published. Exits with status 1 if a test fails.',
    )
    .addHelpText('after', examples('vendors test examples/vendors/recraft.yaml'))
    .argument('<file...>', 'the paths, as in `vendors` of gateway.yaml')
    .action(async (files: readonly string[], _options: object, command: Command) => {
      const output = outputOf(command, context);
      const rows = (await Promise.all(files.map(tryFile))).flat();
      const failed = rows.filter(({ result }) => result === 'failed');
      output.rows(rows, { columns: ['vendor', 'test', 'result', 'why'] });
      if (failed.length === 0) {
        output.note(`All ${rows.length} tests passed. Add the file to \`vendors\` of gateway.yaml.`);
        return;
      }
      for (const { vendor, test, why } of failed)
        output.note(`${String(vendor)}: ${String(test)}: ${String(why)}`);
      output.note(`${failed.length} of ${rows.length} tests failed, so the file cannot be published.`);
      context.fail(1);
    });
}

async function tryFile(path: string): Promise<Row[]> {
  const [{ parseVendorFile }, { createExpressions }, { verifyVendorFile }] = await Promise.all([
    import('../config/vendor-files.ts'),
    import('../providers/vendor-files/expressions.ts'),
    import('../providers/vendor-files/verification/verify.ts'),
  ]);
  const read = parseVendorFile(await textOfFile(path));
  if ('violations' in read)
    throw new CommandError('usage', `${path} is not a vendor file:\n  ${read.violations.join('\n  ')}`);
  const expressions = createExpressions();
  const rows = await verifyVendorFile(read.file, expressions);
  await expressions.close();
  return rows.map(({ test, failure }) => ({
    vendor: read.file.name,
    test,
    result: failure === undefined ? 'passed' : 'failed',
    why: failure ?? null,
  }));
}
