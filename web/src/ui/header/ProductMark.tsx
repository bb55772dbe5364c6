/** The logo. Its accessible name is the title beside it. */
export function ProductMark() {
	return (
		<svg width="28" height="28" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
			<rect width="32" height="32" rx="8" fill="var(--accent)" />
			<g fill="none" stroke="#fff" strokeWidth="2.6" strokeLinecap="round" strokeLinejoin="round">
				<path d="M9 17.5v4A2.5 2.5 0 0 0 11.5 24h9a2.5 2.5 0 0 0 2.5-2.5v-4" />
				<path d="M16 7.5V18m-4.5-4.5L16 18l4.5-4.5" />
			</g>
		</svg>
	);
}
