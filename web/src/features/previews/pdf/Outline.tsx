import type { OutlineItem } from '../frame/frameMessages.js';
import { previewMessages as messages } from '../messages.js';
import styles from './PdfViewer.module.css';

export interface OutlineProps {
	items: readonly OutlineItem[];
	onChoose: (destination: number) => void;
}

export function Outline({ items, onChoose }: OutlineProps) {
	return (
		<nav className={styles.outline} aria-label={messages.outline}>
			<Items items={items} onChoose={onChoose} />
		</nav>
	);
}

function Items({ items, onChoose }: OutlineProps) {
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
