import { noNetwork } from './currentNetwork.js';

/** Whoever works in the morning, or waits while another has all there is for hours, has places and room left from the day before. */
export const rememberedMs = 24 * 3_600_000;

/** Which networks ask for something, so that nothing is kept for others where all ask from one, as through a proxy that is not trusted. */
export class RecentNetworks {
	/** The network that asked last, and the last one before that was another. */
	#latest: { network: string; at: number } | undefined;
	#other: { network: string; at: number } | undefined;

	constructor(
		/** How long it is remembered that a network has asked, in milliseconds. */
		private readonly rememberedMs: number,
		/** Milliseconds of any clock that never goes back. */
		private readonly now = () => performance.now(),
	) {}

	/** Notes that a network asks. What nobody has asked for needs nothing kept for it. */
	see(network: string): void {
		if (network === noNetwork) return;
		if (this.#latest?.network !== network) this.#other = this.#latest;
		this.#latest = { network, at: this.now() };
	}

	/** Whether another network has asked lately. */
	hasOthers(network: string): boolean {
		const other = this.#latest?.network === network ? this.#other : this.#latest;
		return other !== undefined && this.now() - other.at < this.rememberedMs;
	}
}
