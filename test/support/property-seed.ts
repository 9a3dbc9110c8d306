import fc from 'fast-check';

/** On a developer's machine, property tests try random cases. In CI, they try the same cases on every run. */
if (process.env['CI'] !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_125 });
