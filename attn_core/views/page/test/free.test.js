// Memory that is given back.

import assert from "node:assert/strict";
import { test } from "node:test";
import { free } from "../core/free.js";

test("what is given back holds no memory", () => {
  const arrays = [new Float32Array(8), null, new Uint8Array(3)];
  free(arrays);
  assert.deepEqual(
    arrays.map((array) => array?.buffer.byteLength ?? null),
    [0, null, 0],
  );
});
