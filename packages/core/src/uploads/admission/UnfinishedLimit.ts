import type { Database } from '@stowage/database';
import { Failure, isStranger, type Viewer } from '@stowage/rules';
import type { Config } from '../../config/schema.js';
import { shareOf } from '../../config/workers.js';
import { limitAddress } from '../../http/requests/proxy.js';
import { createKeyedMutex } from '../../limits/keyedMutex.js';

interface Dependencies {
	config: Pick<Config, 'uploads' | 'workers'>;
	database: Pick<Database, 'uploads'>;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
}

/** How many resumable uploads a user may have begun and not finished: each is a row, and a file in staging. */
const maxOfUser = 2_000;

/** How many uploads a visitor's address, or a user, may have begun and not finished. */
export class UnfinishedLimit {
	readonly #dependencies: Dependencies;
	/** Forms of visitors under way, by address. */
	readonly #forms = new Map<string, number>();
	readonly #exclusively = createKeyedMutex();

	constructor(dependencies: Dependencies) {
		this.#dependencies = dependencies;
	}

	/**
	 * Runs `begin`, after which an upload is known as unfinished. Throws `rateLimited` above the limit of a visitor,
	 * also when many begin at once. Resumable uploads of all processes are counted by their rows, of which `begin` gets
	 * the maximum number, if there is one. Forms are counted here, and each worker has its share of them.
	 */
	async begin<T>(viewer: Viewer, address: string, begin: (maxRows?: number) => Promise<T>): Promise<T> {
		const { config, database, now } = this.#dependencies;
		const { anonymousUnfinished } = config.uploads;
		if (anonymousUnfinished === 0 || !isStranger(viewer)) return begin();
		const from = limitAddress(address);
		return this.#exclusively(from, async () => {
			const maxRows = anonymousUnfinished - (this.#forms.get(from) ?? 0);
			if ((await database.uploads.countVisitorUploads(from, now())) >= maxRows) {
				throw tooMany();
			}
			return begin(maxRows);
		});
	}

	/** Throws `rateLimited` where the sender is a user who has begun so many. What strangers send to a share is no upload of its owner's. */
	async assertFew(sender: Viewer): Promise<void> {
		if (sender.kind !== 'user' || isStranger(sender)) return;
		if ((await this.#dependencies.database.uploads.countUserUploads(sender.id)) >= maxOfUser) throw tooMany();
	}

	/** Runs `receive`, during which a form counts as one unfinished upload. Throws `rateLimited` above the limit of a visitor. */
	async form<T>(viewer: Viewer, address: string, receive: () => Promise<T>): Promise<T> {
		const from = limitAddress(address);
		const add = (count: 1 | -1) => {
			const forms = (this.#forms.get(from) ?? 0) + count;
			if (forms === 0) this.#forms.delete(from);
			else this.#forms.set(from, forms);
		};
		const { config } = this.#dependencies;
		const isCounted = await this.begin(viewer, address, async (maxRows) => {
			if (maxRows !== undefined && (this.#forms.get(from) ?? 0) >= shareOf(config.uploads.anonymousUnfinished, config))
				throw tooMany();
			if (maxRows !== undefined) add(1);
			return maxRows !== undefined;
		});
		try {
			return await receive();
		} finally {
			if (isCounted) add(-1);
		}
	}
}

function tooMany(): Failure {
	return new Failure('rateLimited', 'Too many uploads were begun from here and not finished.', { retryAfter: 60 });
}
