import { hasSharing, type StorageProvider } from '@stowage/plugin-api';
import { Probe } from '../../limits/Probe.js';

/** What a storage that can be used says of itself. */
export interface Measured {
	/** Why several nodes must not use it at once. */
	sharingFaults: string[];
	/** Bytes; null if unknown. */
	freeBytes: number | null;
	totalBytes: number | null;
}

/** Asks the storage roots how they are. A disk that hangs keeps one thread of this process, however often it is asked after. */
export class RootProbes {
	readonly #probes = new WeakMap<StorageProvider, { checked: Probe<void>; measured: Probe<Measured> }>();
	readonly #monotonic: () => number;

	/** `monotonic` is milliseconds of a monotonic clock. */
	constructor(monotonic: () => number) {
		this.#monotonic = monotonic;
	}

	/** Throws what its `check` throws, and `unavailable` where there is no answer within this time. */
	check(storage: StorageProvider, ms: number): Promise<void> {
		return this.#of(storage).checked.within(ms);
	}

	/** Checks it too, and throws as `check` does. */
	measure(storage: StorageProvider, ms: number): Promise<Measured> {
		return this.#of(storage).measured.within(ms);
	}

	#of(storage: StorageProvider) {
		const known = this.#probes.get(storage);
		if (known !== undefined) return known;
		let measuring: Promise<unknown> = Promise.resolve();
		const checked = new Probe(async () => {
			// Its disk may hang since it was checked.
			await measuring;
			await storage.check();
		}, this.#monotonic);
		const measured = new Probe(async () => {
			await checked.answer();
			const reading = measure(storage);
			measuring = reading.catch(() => undefined);
			return reading;
		}, this.#monotonic);
		const made = { checked, measured };
		this.#probes.set(storage, made);
		return made;
	}
}

async function measure(storage: StorageProvider): Promise<Measured> {
	const freeBytes = (await storage.freeSpace()) ?? null;
	const totalBytes = (await storage.totalSpace()) ?? null;
	return { freeBytes, totalBytes, sharingFaults: hasSharing(storage) ? await storage.sharingFaults() : [] };
}
