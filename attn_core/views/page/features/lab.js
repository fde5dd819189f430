// The further controls: what an explorer has besides where somebody asks for it.

import { features, parts } from "../core/parts.js";
import { survivors } from "../core/philox.js";
import { LAB_WORDS } from "../words/lab.js";
import { addWords } from "../words/words.js";
import { Comparison } from "./comparison.js";
import { Dropout } from "./dropout.js";
import { Inputs } from "./inputs.js";
import { Lines } from "./lines.js";
import "./link.js";
import { Masking } from "./masking.js";
import { EveryHead, Pooling } from "./overviews.js";
import { Runs } from "./runs.js";
import { Table } from "./table.js";

addWords(LAB_WORDS);
features.push(Masking, Dropout, Inputs, Pooling, Comparison, Lines, Table, EveryHead, Runs);
Object.assign(parts, { lab: true, philox: survivors });
