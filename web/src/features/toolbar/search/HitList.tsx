// biome-ignore-all lint/a11y/useFocusableInteractive: the search box keeps the focus and names the chosen hit
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the search box handles the keys
// biome-ignore-all lint/a11y/useSemanticElements: no field of a form can show two lines
import { type Entry, shownName } from '@stowage/rules';
import { useEffect, useRef } from 'react';
import { typeIcon } from '../../../ui/display/typeIcons.js';
import styles from './HitList.module.css';
import { hitFolder, hitKey } from './hits.js';
import { searchMessages as messages } from './messages.js';
import type { Hits } from './useHits.js';

export interface HitListProps extends Hits {
	id: string;
	/** The key of the hit that the arrow keys have chosen. */
	chosen: string | null;
	/** What is said if there are none. */
	emptyText: string;
	onOpen: (entry: Entry) => void;
}

/** The id of the element of the chosen hit. */
export function hitId(listId: string, index: number): string {
	return `${listId}-${index}`;
}

/** The hits below the search box. A press on them leaves the focus where it is. */
export function HitList({ id, hits, isLoading, error, chosen, emptyText, onOpen }: HitListProps) {
	const list = useRef<HTMLDivElement>(null);
	useEffect(() => {
		if (chosen !== null) list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
	}, [chosen]);
	if (!hits?.length) {
		const text = error ? shownName(error.message) : isLoading || !hits ? messages.searching : emptyText;
		return (
			<p className={styles.panel} data-first={hits === undefined && isLoading}>
				{text}
			</p>
		);
	}
	return (
		<div
			ref={list}
			id={id}
			role="listbox"
			aria-label={messages.hits}
			aria-busy={isLoading}
			className={`${styles.panel} ${styles.hits}`}
			onMouseDown={(event) => event.preventDefault()}
		>
			{hits.map((entry, index) => {
				const { Icon, hue } = typeIcon(entry);
				return (
					<div
						key={hitKey(entry)}
						id={hitId(id, index)}
						role="option"
						aria-selected={hitKey(entry) === chosen}
						className={styles.hit}
						onClick={() => onOpen(entry)}
					>
						<span className={styles.icon} data-hue={hue}>
							<Icon size={16} aria-hidden />
						</span>
						<span className={styles.text}>
							<span className={styles.name}>{shownName(entry.name)}</span>
							<span className={styles.folder}>{hitFolder(entry)}</span>
						</span>
					</div>
				);
			})}
		</div>
	);
}
