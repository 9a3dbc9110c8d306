export {};

interface SwaggerUi {
  preauthorizeApiKey: (scheme: string, key: string) => void;
  readonly authActions: { logout: (schemes: readonly string[]) => void };
}

declare global {
  /** What the bundle leaves behind; its package has no types. */
  var SwaggerUIBundle: ((options: Record<string, unknown>) => SwaggerUi) & {
    presets: Record<string, unknown>;
  };
  /** Absent in browsers that do not have Trusted Types yet. */
  var trustedTypes:
    | { createPolicy: (name: string, rules: { createHTML: (text: string) => string | null }) => unknown }
    | undefined;
}
