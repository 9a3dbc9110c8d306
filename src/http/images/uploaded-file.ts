/** A file of a request, unchanged and not inspected yet. */
export class UploadedFile {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;

  constructor(path: string, name: string, bytes: number) {
    this.path = path;
    this.name = name;
    this.bytes = bytes;
  }
}
