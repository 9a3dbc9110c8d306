/** Replaces the package's own types, which are not for the ES module that browsers load. */
declare const htm: {
  bind<Made>(
    create: (type: any, props: Record<string, any> | null, ...children: readonly any[]) => Made,
  ): (strings: TemplateStringsArray, ...values: readonly unknown[]) => Made;
};

// oxlint-disable-next-line import/no-default-export -- the package has no other
export default htm;
