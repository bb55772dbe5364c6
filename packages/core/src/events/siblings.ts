/** Text that one of them sends to others; each reads what concerns it. */
export type SiblingMessage = Readonly<Record<string, unknown>> & { readonly kind: string };

/**
 * The processes that serve behind the same primary process as this one, which passes on what they tell each other.
 * Messages are hints: who begins or ends just then may not get one, and nothing may depend on it but how soon a page
 * hears of a change, and what holds while nothing can be written.
 */
export interface Siblings {
	/** Makes this process known by its name. Called once; the listeners are called from then on. */
	join(name: string, listeners: SiblingListeners): void;
	/** Sends messages to all others, or to one. */
	send(messages: readonly SiblingMessage[], to?: string): void;
	/** The names of the other processes that serve. */
	readonly names: ReadonlySet<string>;
	/** Whether this process does what one of them is enough for. */
	readonly isLeader: boolean;
}

export interface SiblingListeners {
	onMessages(messages: readonly SiblingMessage[]): void;
	/** Called when another process serves. */
	onJoined(name: string): void;
	/** Called when this process becomes the leader. */
	onLead(): void;
}

/** The siblings of a process that serves alone: none. */
export const noSiblings: Siblings = { join() {}, send() {}, names: new Set(), isLeader: true };
