import { Button } from '@blueprintjs/core';
import { DownloadIcon } from '@blueprintjs/icons';
import { rootPath } from '@stowage/rules';
import { useRef } from 'react';
import { isSearch } from '../../api/listings/search.js';
import { toolbarMessages as messages } from './messages.js';
import { PathBreadcrumbs, type PathBreadcrumbsProps } from './PathBreadcrumbs.js';
import { SelectionStatus, type SelectionStatusProps } from './SelectionStatus.js';
import styles from './ShareToolbar.module.css';
import { SetFilters } from './search/Filters.js';
import { SearchBox, type SearchBoxProps } from './search/SearchBox.js';
import toolbar from './Toolbar.module.css';
import { ViewSwitch, type ViewSwitchProps } from './ViewSwitch.js';

export interface ShareToolbarProps
	extends Omit<SearchBoxProps, 'filtersButton'>,
		SelectionStatusProps,
		ViewSwitchProps,
		Omit<PathBreadcrumbsProps, 'isSearch'> {
	/** Whether the list could be loaded; otherwise only the way to others is shown. */
	hasList: boolean;
	/** Whether there is anything to download. */
	hasItems: boolean;
	onDownloadAll: () => void;
	/** Downloads what is selected. */
	onDownload: () => void;
}

/** Where the list of a share is, its search and its downloads. It has no state: the page passes it. */
export function ShareToolbar(props: ShareToolbarProps) {
	const filtersButton = useRef<HTMLButtonElement>(null);
	const { directory, search, filters, selected, hasList, hasItems, view } = props;
	return (
		<section className={toolbar.toolbar} aria-label={messages.toolbar}>
			<div className={toolbar.places}>
				{/* In a share without folders there is nothing but its root. */}
				<div className={styles.path} data-root={(directory === rootPath && !isSearch(props)) || undefined}>
					<PathBreadcrumbs directory={directory} hrefOf={props.hrefOf} isSearch={isSearch(props)} />
				</div>
				<SearchBox
					search={search}
					filters={filters}
					directory={directory}
					onSearch={props.onSearch}
					onOpen={props.onOpen}
					filtersButton={filtersButton}
				/>
			</div>
			<SetFilters filters={filters} onFilters={(set) => props.onSearch({ filters: set })} button={filtersButton} />
			{hasList && (
				<div className={toolbar.contents}>
					<div className={styles.actions}>
						<Button
							intent="primary"
							icon={<DownloadIcon />}
							text={messages.downloadAll}
							disabled={!hasItems}
							onClick={props.onDownloadAll}
						/>
						<Button text={messages.download} disabled={selected === 0} onClick={props.onDownload} />
					</div>
					<SelectionStatus
						results={props.results}
						selected={selected}
						view={view}
						onClearSelection={props.onClearSelection}
					/>
					<ViewSwitch view={view} onView={props.onView} />
				</div>
			)}
		</section>
	);
}
