import { endSignalled } from '../../../src/observability/process-ends.ts';
import { runBundler } from '../../../src/temporal/workflow-bundle.ts';

// Ignore signals during startup, as a worker does.
void endSignalled();
const bundling = runBundler();
process.stdout.write('the bundler runs\n');
const { code } = await bundling;
process.stdout.write(code.includes('generationTask') ? 'bundled\n' : 'something else\n');
