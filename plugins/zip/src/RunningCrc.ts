import { crc32 } from 'node:zlib';
import type { OpenFile } from '@stowage/plugin-api';
import type { Progress } from './Checksums.js';
import type { Pause } from './pausing.js';
import { contentChanged } from './ReadAhead.js';

/** A transfer that is cut hard computes this much again at most. */
const savingBytes = 1024 ** 3;

/** The CRC of the first part of a content. */
export class RunningCrc {
	#crc = 0;
	#bytes = 0;
	#savedBytes = 0;

	/** Continues from the known CRC of a first part. */
	begin({ crc, bytes }: Progress): void {
		this.#crc = crc;
		this.#bytes = bytes;
		this.#savedBytes = bytes;
	}

	get progress(): Progress {
		return { crc: this.#crc, bytes: this.#bytes };
	}

	/** Whether it has progressed much since the last call. */
	get isWorthSaving(): boolean {
		if (this.#bytes - this.#savedBytes < savingBytes) return false;
		this.#savedBytes = this.#bytes;
		return true;
	}

	/** Adds the bytes from `at` on. Known ones are skipped; after a gap nothing is added. */
	add(bytes: Uint8Array, at: number): void {
		const known = this.#bytes - at;
		if (known < 0 || known >= bytes.length) return;
		this.#crc = crc32(known === 0 ? bytes : bytes.subarray(known), this.#crc);
		this.#bytes = at + bytes.length;
	}

	/** Reads the content between the known part and `position`. */
	async catchUp(file: OpenFile, position: number, pause: Pause, signal: AbortSignal | undefined): Promise<void> {
		if (this.#bytes >= position) return;
		for await (const chunk of file.read({ start: this.#bytes, end: position - 1 })) {
			signal?.throwIfAborted();
			this.add(chunk, this.#bytes);
			await pause();
		}
	}

	/** Throws if the content has changed; then its CRC is forgotten. */
	async assertUnchanged(file: OpenFile): Promise<void> {
		if (!(await file.isChanged())) return;
		this.#crc = 0;
		this.#bytes = 0;
		throw contentChanged();
	}
}
