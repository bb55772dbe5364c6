import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const compress = promisify(gzip);

/** Which files are worth a compressed copy: of at least so many bytes, and of which it is at most such a share. */
const worthCompressing = { minBytes: 1024, maxShare: 0.9 };

/**
 * Compressed copies of the page's files, each made when it is first asked for and kept in memory, some 4 MB in all. Compressed for each
 * request they would keep the threads busy that all who read files wait for.
 */
export class CompressedAssets {
	readonly #folder: string;
	readonly #copies = new Map<string, Promise<Buffer | undefined>>();
	/** One after another: a page asks for many at once. */
	#last: Promise<unknown> = Promise.resolve();

	constructor(folder: string) {
		this.#folder = folder;
	}

	/** The copy of a file of the folder, which never changes; undefined if it is hardly smaller. */
	get(name: string): Promise<Buffer | undefined> {
		const known = this.#copies.get(name);
		if (known !== undefined) return known;
		const copy = this.#last.then(() => this.#make(name));
		this.#copies.set(name, copy);
		this.#last = copy.catch(() => this.#copies.delete(name));
		return copy;
	}

	async #make(name: string): Promise<Buffer | undefined> {
		const content = await readFile(path.join(this.#folder, name));
		if (content.length < worthCompressing.minBytes) return undefined;
		const copy = await compress(content, { level: 9 });
		return copy.length <= worthCompressing.maxShare * content.length ? copy : undefined;
	}
}
