import type { Files, StagedFile, UploadRecord } from '@stowage/plugin-api';
import { Failure, type Viewer } from '@stowage/rules';
import type { Config } from '../../config/schema.js';
import { meterOf, type Reservation } from '../../quotas/Reservation.js';
import { metered } from '../../trees/space/metered.js';
import type { Trees } from '../../trees/Trees.js';
import type { HourlyLimits } from './HourlyLimits.js';
import type { UnfinishedLimit } from './UnfinishedLimit.js';
import type { Uploader, UploadSpace } from './uploadSpace.js';

interface Dependencies {
	config: Pick<Config, 'uploads'>;
	trees: Pick<Trees, 'own'>;
	files: Pick<Files, 'stage'>;
	limits: HourlyLimits;
	unfinished: UnfinishedLimit;
	space: UploadSpace;
}

/** A form that was let in. */
export interface AdmittedForm {
	/** A new staged file, whose bytes count in all limits as they arrive: in the quota of `payer`, where that is another one. */
	stage(payer?: Viewer): Promise<StagedFile>;
	/** Counts the files that it had in the end. */
	countFiles(count: number): Promise<void>;
}

/** A chunk of a resumable upload that was let in. */
export interface AdmittedChunk {
	/** The staged file, whose bytes count in all limits as they arrive. */
	staged: StagedFile;
	/** Throws `storageFull` if this many announced bytes exceed the quota. */
	assertRoom(bytes: number): Promise<void>;
	/** The file's size was recorded as this: its bytes count by that from now on. */
	recorded(size: number): void;
	/** The file is complete and will be published next. */
	completed(): void;
}

/** The most bytes of a form besides those of its files. */
const maxFormBytes = 1024 * 1024;

/**
 * Lets uploads in: by the size of a file, the space of the disk, the limits of an hour and the quota, before the first
 * byte and with each one that arrives.
 */
export class Admission {
	readonly #dependencies: Dependencies;

	constructor(dependencies: Dependencies) {
		this.#dependencies = dependencies;
	}

	/**
	 * Runs `receive`, which receives a form of this many announced bytes, and publishes its files. What was counted is
	 * undone when it fails.
	 */
	async form<T>(uploader: Uploader, bytes: number, receive: (form: AdmittedForm) => Promise<T>): Promise<T> {
		const { limits, unfinished, space, files } = this.#dependencies;
		const { viewer, address } = uploader;
		await space.assertNew(uploader, bytes);
		return unfinished.form(viewer, address, () =>
			limits.counted(viewer, address, { files: 1, bytes }, (counter) =>
				this.#reserving(uploader, undefined, async (reservation) => {
					const announced = { bytes: Math.max(0, bytes - maxFormBytes), entries: 1 };
					// Who puts files into folders of others may have no room for own ones: that is known with the folder.
					const lack = await reservation.assertRoom(announced).catch(async (error: unknown) => {
						if ((await uploader.mayHavePayer?.()) !== true) throw error;
						return { error };
					});
					const taken = [space.claim(uploader, bytes), counter.bytes];
					let ofPayer: Reservation | undefined;
					try {
						return await receive({
							countFiles: (count) => counter.files(count),
							stage: async (payer = viewer) => {
								if (payer === viewer && lack !== undefined) throw lack.error;
								if (payer !== viewer && ofPayer === undefined) {
									ofPayer = await this.#dependencies.trees.own(payer, 'public').quota.reserve();
									await ofPayer.assertRoom(announced);
								}
								const counting = payer === viewer ? reservation : (ofPayer as Reservation);
								await counting.add({ bytes: 0, entries: 1 });
								const staged = await files.stage(payer);
								counting.include(staged.id);
								return metered(staged, () => [...taken, meterOf(counting)]);
							},
						});
					} finally {
						ofPayer?.release();
					}
				}),
			),
		);
	}

	/** Throws `tooLarge` for a file that is larger than any may be. */
	assertFileSize(length: number): void {
		const { maxFileSize } = this.#dependencies.config.uploads;
		if (maxFileSize > 0 && length > maxFileSize) {
			throw new Failure('tooLarge', `The file is larger than ${maxFileSize} bytes.`);
		}
	}

	/**
	 * Runs `begin`, after which an upload of this length is known as unfinished: with the maximum number of unfinished
	 * ones, if there is one. `sender` is who sends it, for whomever it counts.
	 */
	async unfinished<T>(
		{ sender, ...uploader }: Uploader & { sender: Viewer },
		length: number,
		begin: (maxRows?: number) => Promise<T>,
	): Promise<T> {
		const { limits, unfinished, space } = this.#dependencies;
		const { viewer, address } = uploader;
		await unfinished.assertFew(sender);
		await space.assertNew(uploader, length);
		return this.#reserving(uploader, undefined, async (reservation) => {
			await reservation.assertRoom({ bytes: length, entries: 1 });
			await reservation.add({ bytes: 0, entries: 1 });
			const begun = await unfinished.begin(viewer, address, (maxRows) =>
				limits.counted(viewer, address, { files: 1, bytes: length }, async (counter) => {
					await counter.files(1);
					return begin(maxRows);
				}),
			);
			reservation.release('begun');
			return begun;
		});
	}

	/** Runs `receive`, which receives bytes of an unfinished upload. They count as held by it afterwards. */
	async chunk<T>(
		uploader: Uploader,
		staged: StagedFile,
		{ offset, length }: Pick<UploadRecord, 'offset' | 'length'>,
		receive: (chunk: AdmittedChunk) => Promise<T>,
	): Promise<T> {
		const { limits, space } = this.#dependencies;
		return this.#reserving(uploader, { stagedId: staged.id, bytes: offset }, async (reservation) => {
			const meters = [
				space.claim(uploader, length - offset),
				limits.arriving(uploader.viewer, uploader.address),
				meterOf(reservation),
			];
			let isComplete = false;
			const received = await receive({
				staged: metered(staged, () => meters),
				assertRoom: (bytes) => reservation.assertRoom({ bytes, entries: 0 }),
				recorded: (size) => reservation.recorded(size),
				completed() {
					isComplete = true;
				},
			});
			if (isComplete) reservation.release('complete');
			return received;
		});
	}

	/**
	 * Runs `publish`, which publishes the file of an unfinished upload: its bytes were reserved when they arrived, and stay so when it
	 * fails.
	 */
	complete<T>(
		{ viewer }: Pick<Uploader, 'viewer'>,
		staged: StagedFile,
		bytes: number,
		publish: () => Promise<T>,
	): Promise<T> {
		return this.#reserving({ viewer }, { stagedId: staged.id, bytes }, publish);
	}

	/** An unfinished upload was dropped: one of which nothing has arrived is no file of its hour. */
	async onDropped(
		{ viewer }: Pick<Uploader, 'viewer'>,
		{ stagedId, address, offset, startedAt }: Pick<UploadRecord, 'stagedId' | 'address' | 'offset' | 'startedAt'>,
	): Promise<void> {
		this.#dependencies.trees.own(viewer, 'public').quota.onUploadDropped();
		if (stagedId === null || offset > 0 || startedAt === null) return;
		await this.#dependencies.limits.giveBack(viewer, address, { files: 1, bytes: 0 }, startedAt);
	}

	async #reserving<T>(
		{ viewer }: Pick<Uploader, 'viewer'>,
		unfinished: { stagedId: string; bytes: number } | undefined,
		work: (reservation: Reservation) => Promise<T>,
	): Promise<T> {
		const reservation = await this.#dependencies.trees.own(viewer, 'public').quota.reserve(unfinished);
		try {
			return await work(reservation);
		} finally {
			reservation.release();
		}
	}
}
