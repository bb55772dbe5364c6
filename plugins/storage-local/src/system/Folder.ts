import { closeSync } from './descriptors.js';

/**
 * An open folder. On Linux its items are named through the descriptor, so the path to it can't be replaced by a link while we
 * use it. The caller that opens one disposes of it.
 */
export class Folder implements Disposable {
	readonly path: string;
	readonly isNamedByDescriptor: boolean;

	/** `realPath` is only used if a descriptor has no path of its own. */
	constructor(
		readonly fd: number,
		realPath?: string,
	) {
		this.path = realPath ?? `/proc/self/fd/${fd}`;
		this.isNamedByDescriptor = realPath === undefined;
	}

	/** The path of the object of that name in this folder. A single name, as bytes if it may not be UTF-8. */
	at(name: string): string;
	at(name: string | Buffer): string | Buffer;
	at(name: string | Buffer): string | Buffer {
		if (typeof name === 'string') return `${this.path}/${name}`;
		return Buffer.concat([Buffer.from(`${this.path}/`), name]);
	}

	[Symbol.dispose](): void {
		closeSync(this.fd);
	}
}
