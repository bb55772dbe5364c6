import { useSyncExternalStore } from 'react';

/** Asks what shall become of unsaved work, and calls `proceed` unless the user stays. It releases the page before. */
type AskBeforeLeaving = (proceed: () => void) => void;

interface Hold {
	ask: AskBeforeLeaving;
	/** The place in the history of the entry that is held. */
	entry: number;
}

let held: Hold | undefined;
const listeners = new Set<() => void>();

/** Holds the page while it contains unsaved work: what would leave it asks first. Returns the function that releases it. */
export function holdPage(ask: AskBeforeLeaving): () => void {
	const hold = { ask, entry: historyIndex(history.state) };
	const controller = new AbortController();
	window.addEventListener('beforeunload', (event) => event.preventDefault(), { signal: controller.signal });
	set(hold);
	return () => {
		controller.abort();
		if (held === hold) set(undefined);
	};
}

/**
 * Lets a held page ask before a step in the history. Call it before the router listens to these, which would show the
 * other entry at once: listeners of the window run in their order.
 */
export function watchHistory(): void {
	window.addEventListener('popstate', (event) => {
		if (!held) return;
		event.stopImmediatePropagation();
		const steps = historyIndex(event.state) - held.entry;
		// The page is back.
		if (steps === 0) return;
		// The step has been made already: it is undone, and made again if the user leaves.
		history.go(-steps);
		held.ask(() => history.go(steps));
	});
}

/** Does what leaves the work on screen, now or after the user was asked. */
export function leaveWork(proceed: () => void): void {
	if (held) held.ask(proceed);
	else proceed();
}

/** Whether the page contains unsaved work, so that it must not be replaced by itself, as when the session ends. */
export function useIsPageHeld(): boolean {
	return useSyncExternalStore(subscribe, isPageHeld);
}

export function isPageHeld(): boolean {
	return held !== undefined;
}

let typing = 0;

/**
 * While a name is typed into a dialog the page is not replaced by itself, as when the session ends: it can be sent once its user has
 * signed in again, and the dialog must send nothing before. Leaving the page does not ask. Returns the function that ends this.
 */
export function holdTyping(): () => void {
	typing++;
	notify();
	return () => {
		typing--;
		notify();
	};
}

/** Whether a name is typed into a dialog. */
export function useIsTyping(): boolean {
	return useSyncExternalStore(subscribe, isTyping);
}

export function isTyping(): boolean {
	return typing > 0;
}

/** The router numbers the entries that it makes; one that it has not made lies before all of them. */
function historyIndex(state: unknown): number {
	const { idx } = (state ?? {}) as { idx?: unknown };
	return typeof idx === 'number' ? idx : -1;
}

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

function set(hold: Hold | undefined): void {
	held = hold;
	notify();
}

function notify(): void {
	for (const listener of listeners) listener();
}
