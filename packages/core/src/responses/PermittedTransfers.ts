/** How often it is checked whether the permissions of transfers under way still hold. */
const pollMs = 2_000;

/** A setting by which something is sent or received: what visitors may read, what they may upload, and what external viewers fetch. */
export type TransferSetting = 'visitors' | 'visitorUploads' | 'externalViewers';

interface Running<Permission> {
	permission: Permission;
	ends: Set<() => void>;
}

interface Dependencies<Permission> {
	/** Identifies a permission: transfers with equal keys are checked, and ended, together. */
	keyOf(permission: Permission): string;
	/** Whether it still holds. An outage of the database throws. */
	isGood(permission: Permission): Promise<boolean>;
}

/**
 * What this process is sending or receiving by permissions such as links, which ends with them, whoever ends them and
 * in whatever process.
 */
export class PermittedTransfers<Permission> {
	readonly #running = new Map<string, Running<Permission>>();
	readonly #permissions: Dependencies<Permission>;
	#timer: NodeJS.Timeout | undefined;

	constructor(permissions: Dependencies<Permission>) {
		this.#permissions = permissions;
	}

	/** `breakOff` is called when the permission ends, until the returned function is called. */
	enter(permission: Permission, breakOff: () => void): () => void {
		const key = this.#permissions.keyOf(permission);
		const running = this.#running.get(key) ?? { permission, ends: new Set() };
		this.#running.set(key, running);
		const end = () => breakOff();
		running.ends.add(end);
		this.#timer ??= setInterval(() => void this.#check(), pollMs).unref();
		return () => {
			running.ends.delete(end);
			if (running.ends.size === 0 && this.#running.get(key) === running) this.#running.delete(key);
			if (this.#running.size > 0) return;
			clearInterval(this.#timer);
			this.#timer = undefined;
		};
	}

	async #check(): Promise<void> {
		for (const { permission, ends } of [...this.#running.values()]) {
			// An outage of the database ends no transfer.
			const isGood = await this.#permissions.isGood(permission).catch(() => true);
			if (!isGood) for (const end of [...ends]) end();
		}
	}
}
