import { setTimeout as wait } from 'node:timers/promises';
import type { ByteRange, ClientParts, OpenFile, ShareRecord, ShareUse, ShareUseStore } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import type { Log } from '../log.js';
import { secretHash } from '../secretHash.js';
import { isWhole, SentParts, type Transfer } from './SentParts.js';

/** How often counts are written, for all shares together. */
const flushMs = 2_000;

const minuteMs = 60_000;

/** What a client left unfinished for so long may be downloaded by another one. */
const passMs = 60 * minuteMs;

/** How long it is known what a client has got of a content. */
const partsMs = 24 * 60 * minuteMs;

/** Attempts to be admitted while another download of the same client is about to end. */
const maxEndings = 20;
const endingMs = 100;

/** A download of a client of a share. */
export interface Download {
	share: Pick<ShareRecord, 'id' | 'maxDownloads'>;
	client: string;
}

interface Dependencies {
	store: ShareUseStore;
	/** The name of this process, and whether another one has certainly ended. */
	processes: { name: string; hasEnded(name: string): Promise<boolean> };
	/** The time of day, milliseconds since the epoch. */
	now(): number;
	log: Log;
}

/**
 * Counts what clients get of shares. A download is all bytes of one version of a file or an archive, in whatever
 * ranges, which left for one client, also over restarts and by several processes. What is counted waits in memory for
 * a moment, so that a range costs no write of its own.
 */
export class ShareUses {
	readonly #parts: Dependencies;
	readonly #sent: SentParts;
	readonly #uses = new Map<string, ShareUse>();
	#timer: NodeJS.Timeout | undefined;
	#flushing: Promise<void> = Promise.resolve();

	constructor(parts: Dependencies) {
		this.#parts = parts;
		this.#sent = new SentParts(parts.processes.name);
	}

	/** Whether the client may download from the share, or all that it has are taken. */
	async mayDownload({ id, maxDownloads }: Download['share'], client: string): Promise<boolean> {
		if (maxDownloads === null) return true;
		return this.#parts.store.mayAdmit(id, secretHash(client), this.#parts.now() - passMs);
	}

	/**
	 * The file of a download, which is counted while it is read. The first byte that is read takes one of a limited
	 * number until the download has ended, and throws `expired` where none is left: so an answer without bytes, as to a
	 * HEAD or a condition, takes none.
	 */
	counted({ share: { id: shareId, maxDownloads }, client }: Download, file: OpenFile): OpenFile {
		// No more of the share is kept for as long as the file is sent.
		const share = { id: shareId, maxDownloads };
		const { id, size, version } = file.item;
		const key = {
			...{ share: share.id, client: secretHash(client), size },
			// By whichever call and name it is sent: its halves by two of them are the whole.
			content: secretHash(JSON.stringify([id, version])),
		};
		let admitted: Promise<void> | undefined;
		const admit = () => {
			admitted ??= this.#admit({ share, client });
			return admitted;
		};
		const of = { key, isLimited: share.maxDownloads !== null, admit };
		return {
			item: file.item,
			read: (range) => this.#read(file, of, range),
			isChanged: (options) => file.isChanged(options),
			close: () => file.close(),
		};
	}

	/** Counts bytes that have left for somebody who looked at a file, which is no download. */
	viewed(share: string, bytesSent: number): void {
		if (bytesSent > 0) this.#use(share, { bytesSent });
	}

	async #admit({ share, client }: Pick<Download, 'share' | 'client'>): Promise<void> {
		if (share.maxDownloads === null) return;
		const { store, now } = this.#parts;
		for (let tries = 0; tries < maxEndings; tries++) {
			const outcome = await store.admit(share.id, secretHash(client), now() - passMs);
			if (outcome === 'admitted') return;
			if (outcome === 'refused') break;
			await wait(endingMs);
		}
		throw new Failure('expired', 'This share has ended.');
	}

	/** Writes all that waits. */
	async flush(): Promise<void> {
		this.#flushing = this.#flushing.then(() => this.#write());
		await this.#flushing;
	}

	async sweep(): Promise<void> {
		await this.#parts.store.sweep(this.#parts.now() - partsMs);
	}

	async close(): Promise<void> {
		await this.flush();
		clearTimeout(this.#timer);
	}

	async *#read(
		file: OpenFile,
		{ admit, ...of }: Pick<Transfer, 'key' | 'isLimited'> & { admit(): Promise<void> },
		range?: ByteRange,
	) {
		await admit();
		const start = range?.start ?? 0;
		const limit = (range?.end ?? of.key.size - 1) + 1;
		const transfer: Transfer = { ...of, start, head: start, limit, touchedAt: this.#parts.now(), isSaved: false };
		this.#sent.begin(transfer);
		this.#flushSoon();
		const { share, client } = of.key;
		let isEnding = false;
		try {
			for await (const chunk of file.read(range)) {
				const { length } = chunk;
				// Before its last bytes are out: its client may come again as soon as it has them.
				if (of.isLimited && !isEnding && transfer.head + length >= limit && (await this.#completes(transfer)))
					isEnding = await this.#parts.store.setEnding(share, client, true);
				yield chunk;
				// The next chunk is requested once this one has left the process.
				transfer.head += length;
				this.#use(share, { bytesSent: length });
			}
		} finally {
			this.#sent.leave(transfer);
			await this.#end(transfer, isEnding);
		}
	}

	/** Whether its client has all of the content once it has this. */
	async #completes({ key, start, limit }: Transfer): Promise<boolean> {
		if (start === 0 && limit === key.size) return true;
		const known = this.#sent.ended(key);
		return isWhole(key, [...(await this.#parts.store.parts(key)), ...known, [start, limit]]);
	}

	async #end(transfer: Transfer, isEnding: boolean): Promise<void> {
		const { key, isLimited, start, head, limit } = transfer;
		const { store, log } = this.#parts;
		try {
			if (isEnding && head < limit) await store.setEnding(key.share, key.client, false);
			if (start === 0 && head === key.size) {
				await this.#forget(transfer);
				return await this.#complete(key, isLimited);
			}
			this.#sent.keep(transfer);
			if (isEnding) await this.flush();
		} catch (error) {
			log.warn({ err: error }, 'a download from a share could not be counted');
		}
	}

	/** What is known of a content that was sent as a whole now. */
	async #forget({ key, isSaved }: Transfer): Promise<void> {
		const hasEnded = this.#sent.forget(key);
		if (!isSaved && !hasEnded) return;
		const { store, log } = this.#parts;
		this.#flushing = this.#flushing
			.then(() => store.forget(key))
			.catch((error: unknown) =>
				log.warn({ err: error }, 'sent parts of a share could not be forgotten: they stay counted'),
			);
		await this.#flushing;
	}

	async #complete(key: Pick<ClientParts, 'share' | 'client'>, isLimited: boolean): Promise<void> {
		if (isLimited) await this.#parts.store.complete(key.share, key.client);
		else this.#use(key.share, { downloads: 1 });
	}

	#use(share: string, more: Partial<ShareUse>): void {
		const use = this.#uses.get(share) ?? { share, downloads: 0, bytesSent: 0, uploads: 0, bytesReceived: 0 };
		use.downloads += more.downloads ?? 0;
		use.bytesSent += more.bytesSent ?? 0;
		use.uploads += more.uploads ?? 0;
		use.bytesReceived += more.bytesReceived ?? 0;
		this.#uses.set(share, use);
		this.#flushSoon();
	}

	#flushSoon(): void {
		this.#timer ??= setTimeout(() => {
			this.#timer = undefined;
			void this.flush().then(() => {
				if (!this.#sent.isEmpty) this.#flushSoon();
			});
		}, flushMs).unref();
	}

	async #write(): Promise<void> {
		const { store, log } = this.#parts;
		const { parts, limited } = this.#sent.take();
		try {
			if (parts.length > 0) {
				const ended = await this.#endedSenders(parts);
				for (const whole of await store.saveParts(parts, ended)) await this.#complete(whole, limited.has(whole.share));
			}
			await store.touch(this.#sent.dueTouches(this.#parts.now()));
			const uses = [...this.#uses.values()];
			this.#uses.clear();
			if (uses.length > 0) await store.add(uses);
		} catch (error) {
			// A full disk, or a database that is away: counts are lost, and nobody's download is.
			log.warn({ err: error }, 'the use of shares could not be saved');
		}
	}

	/**
	 * Names of the processes that were sending these downloads before they were resumed here, and that have ended
	 * without saving how far they had got.
	 */
	async #endedSenders(parts: readonly ClientParts[]): Promise<Set<string>> {
		const { store, processes } = this.#parts;
		const goneOn = parts.filter(({ begun }) => begun.length > 0);
		const ended = new Set<string>();
		for (const sender of goneOn.length === 0 ? [] : await store.senders(goneOn))
			if (sender !== processes.name && (await processes.hasEnded(sender))) ended.add(sender);
		return ended;
	}
}
