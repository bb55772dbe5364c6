import type { KeyboardEvent } from 'react';

/** The usual keys of a `menu`: arrows, Home, End and the first letter of an item. */
export function moveInMenu(event: KeyboardEvent<HTMLElement>): void {
	const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role="menuitem"]:not([aria-disabled="true"])')];
	const target = menuTarget(
		event.key,
		items.map((item) => item.textContent ?? ''),
		items.indexOf(document.activeElement as HTMLElement),
	);
	if (target === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
	event.preventDefault();
	items[target]?.focus();
}

/** The index of the item to which a key moves from the one at `current` (-1 for none). */
export function menuTarget(key: string, texts: readonly string[], current: number): number | undefined {
	const count = texts.length;
	if (count === 0) return undefined;
	switch (key) {
		case 'ArrowDown':
			return (current + 1) % count;
		case 'ArrowUp':
			return current <= 0 ? count - 1 : current - 1;
		case 'Home':
			return 0;
		case 'End':
			return count - 1;
	}
	if (key.length !== 1 || key === ' ') return undefined;
	for (let step = 1; step <= count; step++) {
		const index = (current + step) % count;
		if (texts[index]?.trim().toLowerCase().startsWith(key.toLowerCase())) return index;
	}
	return undefined;
}
