import { EventEmitter } from 'node:events';
import type { Audience, Notification, Notifications } from '@stowage/plugin-api';

/**
 * How long the last event of a ticket is kept for late subscribers: a small download may have ended before its page's stream is open, or
 * while its tab was hidden.
 */
const rememberedMs = 10 * 60_000;

const userPrefix = 'user ';

interface Last {
	item: Notification;
	at: number;
}

/** Notifications that also report their subscribers, so that nothing is looked up for events without one. */
export interface ObservableNotifications extends Notifications {
	/** Whether anybody subscribes to this audience in this process. */
	isObserved(audience: Audience): boolean;
	/** Whether any user's page subscribes in this process. */
	hasUsers(): boolean;
	/** Whether anybody at all subscribes in this process. */
	hasSubscribers(): boolean;
}

/** Notifications within this process; `EventRelay` sends them to others. */
export function createNotifications(now: () => number = () => performance.now()): ObservableNotifications {
	const emitter = new EventEmitter();
	// A listener a page on screen: their number is bounded by the connections, not here.
	emitter.setMaxListeners(0);
	/** The oldest first. */
	const lastOfTickets = new Map<string, Last>();

	const remember = (name: string, item: Notification) => {
		lastOfTickets.delete(name);
		lastOfTickets.set(name, { item, at: now() });
		for (const [old, { at }] of lastOfTickets) {
			if (now() - at < rememberedMs) break;
			lastOfTickets.delete(old);
		}
	};

	return {
		isObserved: (audience) => emitter.listenerCount(nameOf(audience)) > 0,
		hasUsers: () => emitter.eventNames().some((name) => String(name).startsWith(userPrefix)),
		hasSubscribers: () => emitter.eventNames().length > 0,
		publish(audience, item) {
			const name = nameOf(audience);
			if ('ticket' in audience) remember(name, item);
			emitter.emit(name, item);
		},
		subscribe(audience, listener: (item: Notification) => void) {
			const name = nameOf(audience);
			let isListening = true;
			const last = lastOfTickets.get(name);
			// Once the listener is ready for it.
			if (last !== undefined) queueMicrotask(() => isListening && listener(last.item));
			emitter.on(name, listener);
			return () => {
				isListening = false;
				emitter.off(name, listener);
			};
		},
	};
}

function nameOf(audience: Audience): string {
	return 'userId' in audience ? `${userPrefix}${audience.userId}` : `ticket ${audience.ticket}`;
}
