/** A file of a request, as it came; nobody has looked into it yet. */
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
