import { useSyncExternalStore } from 'react';

let running = 0;
const listeners = new Set<() => void>();

/** Says that the page transfers files, which a reload would end: the browser asks before. Returns the function that ends it. */
export function beginTransfer(): () => void {
	const controller = new AbortController();
	window.addEventListener('beforeunload', (event) => event.preventDefault(), { signal: controller.signal });
	change(1);
	return () => {
		if (controller.signal.aborted) return;
		controller.abort();
		change(-1);
	};
}

/** Whether the page transfers files. */
export function useIsTransferring(): boolean {
	return useSyncExternalStore(subscribe, () => running > 0);
}

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

function change(by: number): void {
	running += by;
	for (const listener of listeners) listener();
}
