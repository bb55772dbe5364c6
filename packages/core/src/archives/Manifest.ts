import { hash } from 'node:crypto';
import type { ArchiveEntry, StorageItem, WalkedItem, Yielder } from '@stowage/plugin-api';
import { type Owner, parentPath, type StoragePath } from '@stowage/rules';

/** A file or folder of an archive, as it was when its selection was read. */
export interface ManifestEntry extends ArchiveEntry {
	readonly path: StoragePath;
	readonly owner?: Owner;
}

/** Names the content of a file: another content has another, at whatever path. */
export function contentKeyOf({ id, version }: Pick<StorageItem, 'id' | 'version'>): string {
	return hash('sha256', `${id} ${version}`, 'base64url').slice(0, keyLength);
}

/** Characters of a key, and the bytes that they encode. */
const keyLength = 24;
const keyBytes = 18;

/** The offsets of the fields in a record. */
const mtimeAt = 8;
const nameAt = 16;
const folderAt = 20;
const topAt = 24;
const nameLengthAt = 28;
const typeAt = 29;
const keyAt = 30;
const recordBytes = keyAt + keyBytes;

const recordsPerPage = 256;
const namePageBytes = 16 * 1024;

/** The bytes for an entry's place in the order, and for sorting. */
const orderBytes = 8;

/** An object for a folder, besides its path. */
const folderBytes = 100;

/** Entries that are also cached as objects: the writer of an archive reads the same few again and again. */
const recentEntries = 64;

interface Folder {
	path: StoragePath;
	owner: Owner | undefined;
}

/** The list of an archive's contents as bytes, some 50 for each besides its name: as objects they take five times as much. */
export class Manifest {
	readonly #records: Buffer[] = [];
	readonly #names: Buffer[] = [];
	#namesEnd = 0;
	#recordCount = 0;
	readonly #folders: Folder[] = [];
	/** The records in the order of the entries. */
	#order = new Uint32Array(64);
	#count = 0;
	#nameOf: (top: number, path: StoragePath) => string = (_top, path) => path;
	#recent: ({ index: number; entry: ManifestEntry } | undefined)[] = [];

	/** `reserve` is called before this much more memory is taken, and throws to refuse it. */
	constructor(readonly reserve: (bytes: number) => void) {}

	get count(): number {
		return this.#count;
	}

	/** Adds an entry at the end. `top` is the chosen item that it belongs to. */
	add({ path, owner, type, size, mtime, id, version }: WalkedItem, top: number): void {
		const parent = parentPath(path);
		const name = path.slice(parent && parent.length + 1);
		const at = (this.#recordCount % recordsPerPage) * recordBytes;
		if (at === 0) this.#addRecordPage();
		const record = this.#records.at(-1) as Buffer;
		record.writeDoubleLE(size, at);
		record.writeDoubleLE(mtime, at + mtimeAt);
		const nameBytes = Buffer.byteLength(name);
		record.writeUInt32LE(this.#addName(name, nameBytes), at + nameAt);
		record.writeUInt8(nameBytes, at + nameLengthAt);
		record.writeUInt32LE(this.#folderIndex(parent, owner), at + folderAt);
		record.writeUInt32LE(top, at + topAt);
		record.writeUInt8(type === 'file' ? 1 : 0, at + typeAt);
		if (type === 'file') record.write(contentKeyOf({ id, version }), at + keyAt, 'base64url');
		this.#order[this.#count++] = this.#recordCount++;
	}

	/** Sorts the entries from `first` on by name. They are in one folder. */
	async sortFrom(first: number, yielder: Yielder, signal?: AbortSignal): Promise<void> {
		const order = this.#order.subarray(first, this.#count);
		await sortYielding(order, (record) => this.#lastName(record), yielder, signal);
		this.#recent = [];
	}

	/** Sets the function for entry names, once all tops have a name. */
	name(nameOf: (top: number, path: StoragePath) => string): void {
		this.#nameOf = nameOf;
		this.#recent = [];
	}

	/** Removes the entries with these indexes, which are in order. */
	drop(indexes: readonly number[]): void {
		if (indexes.length === 0) return;
		const dropped = new Set(indexes);
		const kept = this.#order.subarray(0, this.#count).filter((_, index) => !dropped.has(index));
		this.#order = kept;
		this.#count = kept.length;
		this.#recent = [];
	}

	isFolder(index: number): boolean {
		const { page, at } = this.#record(this.#order[index] as number);
		return page.readUInt8(at + typeAt) === 0;
	}

	entry(index: number): ManifestEntry {
		const known = this.#recent[index % recentEntries];
		if (known?.index === index) return known.entry;
		const entry = this.#decode(this.#order[index] as number);
		this.#recent[index % recentEntries] = { index, entry };
		return entry;
	}

	#decode(record: number): ManifestEntry {
		const { page, at } = this.#record(record);
		const folder = this.#folders[page.readUInt32LE(at + folderAt)] as Folder;
		const name = this.#lastName(record);
		// It was a path when it was written down.
		const path = (folder.path === '' ? name : `${folder.path}/${name}`) as StoragePath;
		const isFile = page.readUInt8(at + typeAt) === 1;
		return {
			name: this.#nameOf(page.readUInt32LE(at + topAt), path),
			path,
			type: isFile ? 'file' : 'directory',
			size: page.readDoubleLE(at),
			mtime: page.readDoubleLE(at + mtimeAt),
			contentKey: isFile ? page.toString('base64url', at + keyAt, at + recordBytes) : '',
			...(folder.owner === undefined ? {} : { owner: folder.owner }),
		};
	}

	#record(record: number): { page: Buffer; at: number } {
		return {
			page: this.#records[Math.floor(record / recordsPerPage)] as Buffer,
			at: (record % recordsPerPage) * recordBytes,
		};
	}

	#lastName(record: number): string {
		const { page, at } = this.#record(record);
		const start = page.readUInt32LE(at + nameAt);
		const names = this.#names[Math.floor(start / namePageBytes)] as Buffer;
		const from = start % namePageBytes;
		return names.toString('utf8', from, from + page.readUInt8(at + nameLengthAt));
	}

	#addRecordPage(): void {
		this.reserve(recordsPerPage * (recordBytes + orderBytes));
		this.#records.push(Buffer.alloc(recordsPerPage * recordBytes));
		const room = this.#records.length * recordsPerPage;
		if (room <= this.#order.length) return;
		const larger = new Uint32Array(Math.ceil(room * 1.5));
		larger.set(this.#order);
		this.#order = larger;
	}

	/** A name, which has at most 255 bytes, is on one page. */
	#addName(name: string, bytes: number): number {
		if (
			(this.#namesEnd % namePageBytes) + bytes > namePageBytes ||
			this.#namesEnd === this.#names.length * namePageBytes
		) {
			this.reserve(namePageBytes);
			this.#namesEnd = this.#names.length * namePageBytes;
			this.#names.push(Buffer.allocUnsafeSlow(namePageBytes));
		}
		const start = this.#namesEnd;
		this.#names.at(-1)?.write(name, start % namePageBytes);
		this.#namesEnd += bytes;
		return start;
	}

	/** All items of one folder are added at once. */
	#folderIndex(path: StoragePath, owner: Owner | undefined): number {
		const last = this.#folders.at(-1);
		if (last === undefined || last.path !== path || last.owner !== owner) {
			this.reserve(folderBytes + 2 * path.length);
			this.#folders.push({ path, owner });
		}
		return this.#folders.length - 1;
	}
}

/** Items sorted at once, in some milliseconds. */
const runLength = 2048;

/** Sorts numbers by the text of each, as `<` compares it, and yields to the event loop meanwhile. */
async function sortYielding(
	numbers: Uint32Array,
	textOf: (number: number) => string,
	yielder: Yielder,
	signal?: AbortSignal,
): Promise<void> {
	for (let start = 0; start < numbers.length; start += runLength) {
		if (yielder.shouldYield) await yielder.yield(signal);
		sortRun(numbers.subarray(start, start + runLength), textOf);
	}
	let from = numbers;
	let to = numbers.length > runLength ? new Uint32Array(numbers.length) : numbers;
	for (let width = runLength; width < numbers.length; width *= 2) {
		for (let start = 0; start < numbers.length; start += 2 * width) await merge(start, width);
		[from, to] = [to, from];
	}
	if (from !== numbers) numbers.set(from);

	/** Merges two adjacent sorted runs. */
	async function merge(start: number, width: number): Promise<void> {
		const middle = Math.min(start + width, numbers.length);
		const end = Math.min(middle + width, numbers.length);
		let [left, right] = [start, middle];
		const leftText = () => (left < middle ? textOf(from[left] as number) : undefined);
		const rightText = () => (right < end ? textOf(from[right] as number) : undefined);
		let [a, b] = [leftText(), rightText()];
		for (let at = start; at < end; at++) {
			if (yielder.shouldYield) await yielder.yield(signal);
			if (b === undefined || (a !== undefined && a < b)) {
				to[at] = from[left++] as number;
				a = leftText();
			} else {
				to[at] = from[right++] as number;
				b = rightText();
			}
		}
	}
}

function sortRun(numbers: Uint32Array, textOf: (number: number) => string): void {
	const named = Array.from(numbers, (number) => ({ number, text: textOf(number) }));
	named.sort((a, b) => (a.text < b.text ? -1 : 1));
	for (const [index, { number }] of named.entries()) numbers[index] = number;
}
