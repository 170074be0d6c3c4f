// A hand-written catalogue service with net/http and pgx. Reads DATABASE_URL and listens on a free port of the loopback interface.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	connections = 16
	keyLifetime = 30 * time.Second
	maxBody     = 64 * 1024

	findKey = `SELECT client_id FROM access.api_keys
		WHERE hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`
	findPet        = `SELECT id, name, category_id, status FROM pets.pets WHERE id = $1`
	listPets       = `SELECT id, name, category_id, status FROM pets.pets WHERE id > $1 ORDER BY id LIMIT $2`
	listByStatus   = `SELECT id, name, category_id, status FROM pets.pets WHERE status = $1 AND id > $2 ORDER BY id LIMIT $3`
	insertPet      = `INSERT INTO pets.pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING id`
	contentType    = "application/json; charset=utf-8"
	defaultLimit   = 20
	maxLimit       = 100
	maxNameLength  = 255
	defaultStatus  = "available"
	bearer         = "Bearer "
	petsPath       = "/v1/pets"
	petsPathPrefix = petsPath + "/"
)

type pet struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	CategoryID int64  `json:"categoryId"`
	Status     string `json:"status"`
}

type newPet struct {
	Name       *string `json:"name"`
	CategoryID *int64  `json:"categoryId"`
	Status     *string `json:"status"`
}

type server struct {
	pool *pgxpool.Pool
	keys sync.Map // [32]byte → time.Time until which the key is cached
}

func main() {
	config, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	config.MaxConns = connections
	// pgx prepares each statement once per connection.
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		log.Fatal(err)
	}
	s := &server{pool: pool}
	mux := http.NewServeMux()
	mux.HandleFunc(petsPath, s.pets)
	mux.HandleFunc(petsPathPrefix, s.pet)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening %d\n", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, mux))
}

func (s *server) pets(w http.ResponseWriter, r *http.Request) {
	if !s.authenticated(w, r) {
		return
	}
	switch r.Method {
	case http.MethodGet:
		s.list(w, r)
	case http.MethodPost:
		s.create(w, r)
	default:
		fail(w, http.StatusMethodNotAllowed, "method_not_allowed", "Only GET and POST.")
	}
}

func (s *server) pet(w http.ResponseWriter, r *http.Request) {
	if !s.authenticated(w, r) {
		return
	}
	id, err := strconv.ParseInt(strings.TrimPrefix(r.URL.Path, petsPathPrefix), 10, 64)
	if err != nil {
		fail(w, http.StatusNotFound, "pet_not_found", "There is no such animal.")
		return
	}
	var p pet
	err = s.pool.QueryRow(r.Context(), findPet, id).Scan(&p.ID, &p.Name, &p.CategoryID, &p.Status)
	if errors.Is(err, pgx.ErrNoRows) {
		fail(w, http.StatusNotFound, "pet_not_found", "There is no such animal.")
		return
	}
	if err != nil {
		fail(w, http.StatusInternalServerError, "internal_error", err.Error())
		return
	}
	respond(w, http.StatusOK, p)
}

func (s *server) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	limit, after := int64(defaultLimit), int64(-1<<63)
	var err error
	if text := query.Get("limit"); text != "" {
		if limit, err = strconv.ParseInt(text, 10, 64); err != nil || limit < 1 || limit > maxLimit {
			fail(w, http.StatusBadRequest, "invalid_request", "limit must be an integer from 1 to 100.")
			return
		}
	}
	if text := query.Get("after"); text != "" {
		if after, err = strconv.ParseInt(text, 10, 64); err != nil {
			fail(w, http.StatusBadRequest, "invalid_request", "after must be an integer.")
			return
		}
	}
	status := query.Get("status")
	var rows pgx.Rows
	if status == "" {
		rows, err = s.pool.Query(r.Context(), listPets, after, limit+1)
	} else if !isStatus(status) {
		fail(w, http.StatusBadRequest, "invalid_request", "status must be available, pending or sold.")
		return
	} else {
		rows, err = s.pool.Query(r.Context(), listByStatus, status, after, limit+1)
	}
	if err != nil {
		fail(w, http.StatusInternalServerError, "internal_error", err.Error())
		return
	}
	defer rows.Close()
	found := make([]pet, 0, limit+1)
	for rows.Next() {
		var p pet
		if err := rows.Scan(&p.ID, &p.Name, &p.CategoryID, &p.Status); err != nil {
			fail(w, http.StatusInternalServerError, "internal_error", err.Error())
			return
		}
		found = append(found, p)
	}
	if err := rows.Err(); err != nil {
		fail(w, http.StatusInternalServerError, "internal_error", err.Error())
		return
	}
	if int64(len(found)) > limit {
		found = found[:limit]
		next := petsPath + "?limit=" + strconv.FormatInt(limit, 10)
		if status != "" {
			next += "&status=" + status
		}
		next += "&after=" + strconv.FormatInt(found[limit-1].ID, 10)
		w.Header().Set("Link", "<"+next+`>; rel="next"`)
	}
	respond(w, http.StatusOK, found)
}

func (s *server) create(w http.ResponseWriter, r *http.Request) {
	var body newPet
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&body); err != nil {
		fail(w, http.StatusBadRequest, "malformed_json", "The body must be a JSON object.")
		return
	}
	p := pet{Status: defaultStatus}
	if body.Name == nil || *body.Name == "" || utf8.RuneCountInString(*body.Name) > maxNameLength || body.CategoryID == nil {
		fail(w, http.StatusBadRequest, "invalid_request", "name and categoryId are required.")
		return
	}
	if body.Status != nil {
		if !isStatus(*body.Status) {
			fail(w, http.StatusBadRequest, "invalid_request", "status must be available, pending or sold.")
			return
		}
		p.Status = *body.Status
	}
	p.Name, p.CategoryID = *body.Name, *body.CategoryID
	if err := s.pool.QueryRow(r.Context(), insertPet, p.Name, p.CategoryID, p.Status).Scan(&p.ID); err != nil {
		fail(w, http.StatusInternalServerError, "internal_error", err.Error())
		return
	}
	w.Header().Set("Location", petsPathPrefix+strconv.FormatInt(p.ID, 10))
	respond(w, http.StatusCreated, p)
}

func (s *server) authenticated(w http.ResponseWriter, r *http.Request) bool {
	header := r.Header.Get("Authorization")
	if !strings.HasPrefix(header, bearer) {
		fail(w, http.StatusUnauthorized, "missing_api_key", "An API key is required.")
		return false
	}
	hash := sha256.Sum256([]byte(header[len(bearer):]))
	if until, known := s.keys.Load(hash); known && time.Now().Before(until.(time.Time)) {
		return true
	}
	var client int64
	err := s.pool.QueryRow(r.Context(), findKey, hash[:]).Scan(&client)
	if errors.Is(err, pgx.ErrNoRows) {
		fail(w, http.StatusUnauthorized, "invalid_api_key", "The API key is not valid.")
		return false
	}
	if err != nil {
		fail(w, http.StatusInternalServerError, "internal_error", err.Error())
		return false
	}
	s.keys.Store(hash, time.Now().Add(keyLifetime))
	return true
}

func isStatus(text string) bool {
	return text == "available" || text == "pending" || text == "sold"
}

func respond(w http.ResponseWriter, status int, body interface{}) {
	text, err := json.Marshal(body)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{}`)
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	w.Write(text)
}

func fail(w http.ResponseWriter, status int, code, message string) {
	respond(w, status, map[string]interface{}{"code": code, "message": message, "status": status})
}
