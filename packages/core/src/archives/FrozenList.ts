import { hash } from 'node:crypto';
import type { ArchiveEntry, StorageItem, WalkedItem } from '@stowage/plugin-api';
import type { Owner, StoragePath } from '@stowage/rules';

/** A file or folder of a selection, as it was when the selection was looked at. */
export interface FrozenEntry extends ArchiveEntry {
	readonly path: StoragePath;
	readonly owner?: Owner;
}

/** Names the content of a file: another content has another, at whatever path. */
export function contentKeyOf({ id, version }: Pick<StorageItem, 'id' | 'version'>): string {
	return hash('sha256', `${id} ${version}`, 'base64url').slice(0, keyLength);
}

/** Characters of a key, and the bytes that they stand for. */
const keyLength = 24;
const keyBytes = 18;

/** One record: size, modified time, where the path ends, the top it belongs to, owner, type and key. */
const recordBytes = 8 + 8 + 8 + 4 + 2 + 1 + keyBytes;

/** Entries that are kept as objects as well: whoever writes an archive asks for the same few again and again. */
const recentEntries = 64;

/** Entries as bytes, some 90 for each besides its path: as objects they take five times as much. */
export class FrozenList {
	count = 0;
	#records: Buffer = Buffer.alloc(recordBytes * 64);
	#paths: Buffer = Buffer.alloc(4096);
	#pathBytes = 0;
	readonly #owners: (Owner | undefined)[] = [];
	#nameOf: (top: number, path: StoragePath) => string = (_top, path) => path;
	/** The places of the entries that are left where some were dropped. */
	#kept: Uint32Array | undefined;
	#recent: ({ index: number; entry: FrozenEntry } | undefined)[] = [];

	add({ path, owner, type, size, mtime, id, version }: WalkedItem, top: number): void {
		this.#makeRoom(Buffer.byteLength(path));
		this.#pathBytes += this.#paths.write(path, this.#pathBytes);
		let at = this.#records.writeDoubleLE(size, this.count * recordBytes);
		at = this.#records.writeDoubleLE(mtime, at);
		at = this.#records.writeDoubleLE(this.#pathBytes, at);
		at = this.#records.writeUInt32LE(top, at);
		at = this.#records.writeUInt16LE(this.#ownerIndex(owner), at);
		at = this.#records.writeUInt8(type === 'file' ? 1 : 0, at);
		this.#records.fill(0, at, at + keyBytes);
		if (type === 'file') this.#records.write(contentKeyOf({ id, version }), at, 'base64url');
		this.count++;
	}

	/** Says how an entry is called in the archive, once all tops have a name. */
	name(nameOf: (top: number, path: StoragePath) => string): void {
		this.#nameOf = nameOf;
		this.#recent = [];
	}

	/** Leaves out what `isUnwanted` says; answers how many that were. */
	drop(isUnwanted: (entry: FrozenEntry) => boolean): number {
		const { count } = this;
		const kept: number[] = [];
		for (let index = 0; index < count; index++) if (!isUnwanted(this.entry(index))) kept.push(index);
		if (kept.length < count) this.#kept = Uint32Array.from(kept);
		this.count = kept.length;
		this.#recent = [];
		return count - kept.length;
	}

	entry(index: number): FrozenEntry {
		const known = this.#recent[index % recentEntries];
		if (known?.index === index) return known.entry;
		const entry = this.#decode(index);
		this.#recent[index % recentEntries] = { index, entry };
		return entry;
	}

	#decode(index: number): FrozenEntry {
		const record = this.#kept?.[index] ?? index;
		const at = record * recordBytes;
		const pathStart = record === 0 ? 0 : this.#records.readDoubleLE(at - recordBytes + 16);
		// It was a path when it was written down.
		const path = this.#paths.toString('utf8', pathStart, this.#records.readDoubleLE(at + 16)) as StoragePath;
		const owner = this.#owners[this.#records.readUInt16LE(at + 28)];
		const type = this.#records.readUInt8(at + 30) === 1 ? 'file' : 'directory';
		return {
			name: this.#nameOf(this.#records.readUInt32LE(at + 24), path),
			path,
			type,
			size: this.#records.readDoubleLE(at),
			mtime: this.#records.readDoubleLE(at + 8),
			contentKey: type === 'file' ? this.#records.toString('base64url', at + 31, at + recordBytes) : '',
			...(owner === undefined ? {} : { owner }),
		};
	}

	#ownerIndex(owner: Owner | undefined): number {
		const known = this.#owners.indexOf(owner);
		return known === -1 ? this.#owners.push(owner) - 1 : known;
	}

	#makeRoom(pathBytes: number): void {
		if ((this.count + 1) * recordBytes > this.#records.length) this.#records = grown(this.#records, recordBytes);
		if (this.#pathBytes + pathBytes > this.#paths.length) this.#paths = grown(this.#paths, pathBytes);
	}
}

function grown(bytes: Buffer, atLeast: number): Buffer {
	const larger = Buffer.allocUnsafeSlow(Math.ceil(bytes.length * 1.5) + atLeast);
	bytes.copy(larger);
	return larger;
}
