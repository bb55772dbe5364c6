import { previewMessages as messages } from '../messages.js';
import styles from './PdfViewer.module.css';
import type { OutlineItem, PdfPages } from './showPdf.js';

export function Outline({ pages }: { pages: PdfPages }) {
	return (
		<nav className={styles.outline} aria-label={messages.outline}>
			<Items items={pages.outline} onChoose={pages.goToDestination} />
		</nav>
	);
}

interface ItemsProps {
	items: readonly OutlineItem[];
	onChoose: PdfPages['goToDestination'];
}

function Items({ items, onChoose }: ItemsProps) {
	return (
		<ul>
			{items.map(({ title, destination, items: inner }, index) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: it never changes
				<li key={index}>
					{destination === undefined ? (
						<span>{title}</span>
					) : (
						<button type="button" onClick={() => onChoose(destination)}>
							{title}
						</button>
					)}
					{inner.length > 0 && <Items items={inner} onChoose={onChoose} />}
				</li>
			))}
		</ul>
	);
}
