import { hasSharing, type LeaseStore, type StorageProvider } from '@stowage/plugin-api';
import { Failure, isFailure } from '@stowage/rules';
import { createLeases, type Lease, type Leases } from '../../leases/createLeases.js';
import type { ProcessIdentity } from '../../leases/processIdentity.js';
import type { Log } from '../../log.js';

interface Dependencies {
	store: LeaseStore;
	identity: ProcessIdentity;
	/** The node of this process, as its claims name it: at most 60 characters, without blanks. */
	node: string;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
	log: Log;
	/** Called when what was claimed is lost. */
	onLost(): void;
}

const leaseName = (rootId: string) => `root ${rootId}`;

/**
 * Lets one node at a time use a root that several machines must not change at once. The node that was first has a lease of it, which
 * one of its processes holds for all of them: so it is not released at an end, when others of the node may go on, but expires.
 */
export class RootClaims {
	readonly #dependencies: Dependencies;
	readonly #leases: Leases;
	/** Why roots can't be shared, by their ids; empty for those that can. */
	readonly #faults = new Map<string, string>();
	readonly #held = new Map<string, Lease>();
	/** The other nodes that use them, as the log has it. */
	readonly #users = new Map<string, string>();

	constructor(dependencies: Dependencies) {
		const { store, identity, node, monotonic } = dependencies;
		this.#dependencies = dependencies;
		this.#leases = createLeases({
			store,
			identity: {
				name: `${identity.name} @${node}`,
				hasEnded: (name) => identity.hasEnded(processOf(name)),
				canTell: (name) => identity.canTell(processOf(name)),
			},
			monotonic,
		});
	}

	/** Why this node must not use an open root now: another one does, and it can't be shared. Undefined where it may. */
	async refusalOf(storage: StorageProvider): Promise<Failure | undefined> {
		const { rootId } = storage;
		if (!this.#faults.has(rootId)) {
			try {
				this.#faults.set(rootId, hasSharing(storage) ? (await storage.sharingFaults()).join(' ') : '');
			} catch (error) {
				// Nothing can be changed there, and it is asked again.
				if (!isFailure(error)) throw error;
			}
		}
		return this.knownRefusalOf(rootId);
	}

	/** `refusalOf` for a root that it was asked about before; reads nothing from the root itself. */
	async knownRefusalOf(rootId: string): Promise<Failure | undefined> {
		const faults = this.#faults.get(rootId) ?? '';
		if (faults === '') return undefined;
		const user = await this.#userOf(rootId);
		if (this.#users.get(rootId) !== user) this.#say(rootId, user, faults);
		return user === undefined
			? undefined
			: new Failure('unavailable', `Node ${user} uses this storage root. ${faults}`);
	}

	/** Called when a root is opened anew, perhaps from another file system. */
	forget(rootId: string): void {
		this.#faults.delete(rootId);
	}

	close(): void {
		for (const lease of this.#held.values()) lease.lapse();
		this.#held.clear();
	}

	/** The other node that uses it; undefined where it is this one, from now on at the latest. */
	async #userOf(rootId: string): Promise<string | undefined> {
		if (this.#held.get(rootId)?.isHeld()) return undefined;
		const { store, node, onLost } = this.#dependencies;
		const lease = await this.#leases.acquire(leaseName(rootId));
		if (lease !== undefined) {
			this.#held.set(rootId, lease);
			lease.signal.addEventListener('abort', onLost);
			return undefined;
		}
		const held = await store.find(leaseName(rootId));
		// It ended at this moment: the next look takes it.
		const user = held === undefined ? 'another' : nodeOf(held.holder);
		return user === node ? undefined : user;
	}

	#say(rootId: string, user: string | undefined, faults: string): void {
		const { log } = this.#dependencies;
		if (user === undefined) {
			this.#users.delete(rootId);
			log.info({ rootId }, 'no other node uses this storage root any more');
			return;
		}
		this.#users.set(rootId, user);
		log.warn({ rootId, node: user, reason: faults }, 'another node uses this storage root, which can’t be shared');
	}
}

function processOf(holder: string): string {
	return holder.replace(/ @\S*$/, '');
}

function nodeOf(holder: string): string {
	return holder.replace(/^.* @/, '');
}
