import type { Database } from '@stowage/database';
import { Failure, isStranger, type Viewer } from '@stowage/rules';
import type { Config } from '../../config/schema.js';
import { limitAddress } from '../../http/requests/proxy.js';
import { createKeyedMutex } from '../../limits/keyedMutex.js';

interface Dependencies {
	config: Pick<Config, 'uploads'>;
	database: Pick<Database, 'uploads'>;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
}

/** How many uploads a visitor's address may have begun and not finished. */
export class UnfinishedLimit {
	readonly #dependencies: Dependencies;
	/** Forms of visitors under way, by address. */
	readonly #forms = new Map<string, number>();
	readonly #exclusively = createKeyedMutex();

	constructor(dependencies: Dependencies) {
		this.#dependencies = dependencies;
	}

	/**
	 * Runs `begin`, after which an upload is known as unfinished. Throws `rateLimited` above the limit of a visitor, also when many begin at once. Other processes are
	 * not seen here: `begin` gets the maximum number of rows, if there is one.
	 */
	async begin<T>(viewer: Viewer, address: string, begin: (maxRows?: number) => Promise<T>): Promise<T> {
		const { config, database, now } = this.#dependencies;
		const { anonymousUnfinished } = config.uploads;
		if (anonymousUnfinished === 0 || !isStranger(viewer)) return begin();
		const from = limitAddress(address);
		return this.#exclusively(from, async () => {
			const maxRows = anonymousUnfinished - (this.#forms.get(from) ?? 0);
			if ((await database.uploads.countVisitorUploads(from, now())) >= maxRows) {
				throw new Failure('rateLimited', 'Too many uploads were begun from here and not finished.', {
					retryAfter: 60,
				});
			}
			return begin(maxRows);
		});
	}

	/** The same for a form, which is unfinished until `receive` has ended. */
	async form<T>(viewer: Viewer, address: string, receive: () => Promise<T>): Promise<T> {
		const from = limitAddress(address);
		const add = (count: 1 | -1) => {
			const forms = (this.#forms.get(from) ?? 0) + count;
			if (forms === 0) this.#forms.delete(from);
			else this.#forms.set(from, forms);
		};
		const isCounted = await this.begin(viewer, address, async (maxRows) => {
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
