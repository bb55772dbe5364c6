/** The index to which a key moves in a row of controls from the one at `current`; undefined for other keys. */
export function stepInRow(key: string, current: number, count: number): number | undefined {
	switch (key) {
		case 'ArrowRight':
			return (current + 1) % count;
		case 'ArrowLeft':
			return (current - 1 + count) % count;
		case 'Home':
			return 0;
		case 'End':
			return count - 1;
		default:
			return undefined;
	}
}
